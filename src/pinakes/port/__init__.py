"""The port: what search asks of an index, wherever it is kept, and what it is answered with.

``search`` knows this package and nothing of ``stores``; an index implements it. Chunks and documents go by numbers that
mean nothing and are never used twice.
"""
