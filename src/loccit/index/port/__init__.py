"""The port: what search asks of an index, wherever it is stored, and the types of the answers.

``search`` knows this package and nothing of ``stores``; an index implements it. Chunks and documents have opaque
numbers that are never reused.
"""
