"""The embedder that needs no network: multilingual-e5-small on onnxruntime, or a numpy-only stand-in.

The rooms, in the order data passes through them:

* `weights` reads the 4-bit weight file that an installed package carries;
* `graph` turns those weights into an int8 ONNX graph;
* `build` keeps the graph and the tokenizer's tables in a cache folder, built once;
* `tokenizer` turns text into piece ids;
* `embedder` runs the graph and gives unit vectors;
* `fallback` is the same port on a smaller model, where the weights do not exist for a platform.

Importing this package does no work and loads nothing heavy.
"""
