"""Ranking is arithmetic: named, bounded and the same every time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.recall import ranking
from reverie.recall.ranking import RankingSettings

NOW = datetime(2026, 6, 1, tzinfo=UTC)
SETTINGS = RankingSettings()
legs = st.dictionaries(st.integers(0, 30), st.floats(0.0, 50.0, allow_nan=False), max_size=20)


def arrays(leg: dict[int, float]) -> ranking.Scores:
    return np.array(list(leg), np.int64), np.array(list(leg.values()), np.float64)


def fused_of(
    keyword: dict[int, float], vector: dict[int, float], total: int, settings: RankingSettings
) -> dict[int, float]:
    ids, sums = ranking.fuse(arrays(keyword), arrays(vector), total, settings)
    return dict(zip(ids.tolist(), sums.tolist(), strict=True))


@given(legs, legs)
def test_every_candidate_of_either_leg_gets_one_score_between_0_and_1(
    keyword: dict[int, float], vector: dict[int, float]
) -> None:
    fused = fused_of(keyword, vector, 1000, SETTINGS)
    assert set(fused) == set(keyword) | set(vector)
    assert all(0.0 <= ranking.squash(np.array([score]))[0] <= 1.0 for score in fused.values())


@given(st.floats(-60, 60), st.floats(1e-6, 10))
def test_a_better_sum_has_a_better_score(value: float, more: float) -> None:
    lower, higher = ranking.squash(np.array([value, value + more]))
    assert higher > lower


@given(legs)
def test_one_leg_alone_keeps_its_own_order(leg: dict[int, float]) -> None:
    for fused in (fused_of(leg, {}, 1000, SETTINGS), fused_of({}, leg, 1000, SETTINGS)):
        for one in leg:
            for two in leg:
                if leg[one] > leg[two]:
                    assert fused[one] >= fused[two]


@given(legs, legs)
def test_i11_fusion_does_not_depend_on_the_order_in_which_hits_arrive(
    keyword: dict[int, float], vector: dict[int, float]
) -> None:
    turned = (dict(reversed(keyword.items())), dict(reversed(vector.items())))
    assert fused_of(keyword, vector, 1000, SETTINGS) == fused_of(*turned, 1000, SETTINGS)


def test_a_word_that_only_one_note_holds_outweighs_a_faint_likeness() -> None:
    vector = {note: note * 0.1 for note in range(20)}
    fused = fused_of({0: 9.0}, vector, 1000, SETTINGS)
    assert max(fused, key=fused.__getitem__) == 0


def test_a_word_that_every_line_holds_hardly_counts() -> None:
    keyword = {note: 1.0 + note * 0.0001 for note in range(1000)}
    fused = fused_of(keyword, {0: 3.0}, 1000, SETTINGS)
    assert max(fused, key=fused.__getitem__) == 0


def test_a_long_line_has_a_price_and_a_very_short_one_no_more_of_a_prize() -> None:
    prices = ranking.length(np.array([10, 60, 200, 400, 800]), SETTINGS).tolist()
    assert prices == pytest.approx([0.868, 0.868, 0.0, -0.5, -1.0], abs=0.001)


@given(st.floats(0, 40_000))
def test_decay_falls_with_age_but_never_below_its_floor(days: float) -> None:
    factor = ranking.recency(NOW - timedelta(days=days), NOW, SETTINGS)
    assert SETTINGS.recency_floor <= factor <= 1.0
    older = ranking.recency(NOW - timedelta(days=days + 1), NOW, SETTINGS)
    assert older <= factor


def test_what_carries_no_date_does_not_decay() -> None:
    assert ranking.recency(None, NOW, SETTINGS) == 1.0


def test_half_of_what_can_decay_is_gone_after_one_half_life() -> None:
    factor = ranking.recency(NOW - timedelta(days=30), NOW, SETTINGS)
    assert factor == pytest.approx((1.0 + SETTINGS.recency_floor) / 2)


@pytest.mark.parametrize(("value", "factor"), [(1, 0.80), (5, 1.00), (10, 1.25), (None, 1.0)])
def test_importance_multiplies_as_documented(value: int | None, factor: float) -> None:
    assert ranking.importance(value, SETTINGS) == pytest.approx(factor)


@pytest.mark.parametrize(
    ("keys", "active", "factor"),
    [((), ("a",), 1.0), (("a",), (), 1.0), (("a",), ("a", "b"), 1.15), (("a", "c"), ("a",), 0.9)],
)
def test_a_project_is_boosted_only_when_all_its_keys_are_active(
    keys: tuple[str, ...], active: tuple[str, ...], factor: float
) -> None:
    assert ranking.project(keys, active, SETTINGS) == pytest.approx(factor)


def test_a_verbatim_repeat_gives_way_to_something_new() -> None:
    order = [("the boiler code is 4711", 0.9), ("the boiler code is 4711", 0.89), ("the tram leaves at nine", 0.8)]
    chosen = [at for at, _ in ranking.diversify(order, 3, SETTINGS)]
    assert chosen == [0, 2, 1]


def test_rank_10_different_sentences_of_any_script_are_not_taken_for_repeats() -> None:
    order = [
        ("Встреча перенесена на четверг", 0.9),
        ("Кошка любит рыбу и молоко", 0.8),
        ("الاجتماع يوم الخميس", 0.7),
        ("القطة تحب السمك", 0.6),
    ]
    assert ranking.diversify(order, 4, SETTINGS) == [(0, 1.0), (1, 1.0), (2, 1.0), (3, 1.0)]


@given(st.lists(st.tuples(st.text(max_size=12), st.floats(0, 1)), max_size=8), st.integers(0, 10))
def test_diversity_changes_the_order_and_loses_nothing(order: list[tuple[str, float]], limit: int) -> None:
    chosen = [at for at, _ in ranking.diversify(order, limit, SETTINGS)]
    assert len(chosen) == len(set(chosen)) == min(limit, len(order))
