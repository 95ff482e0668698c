"""Adapters to the outside: embedding models and chat models."""
