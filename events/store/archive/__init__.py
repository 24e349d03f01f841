"""Finished matches outside live memory: packs in a storage, found by a catalogue in the store."""
