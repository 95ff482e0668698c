"""Models that are reached over HTTP: embedders and a chat model. Nothing is called that no configuration names.

``client`` sends, waits and gives up; ``known`` lists the providers; ``wire`` has their formats; ``embedder`` and
``chat`` are what the rest of Reverie is handed. The packages that it needs come with the extra ``remote``.
"""
