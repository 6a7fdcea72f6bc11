"""Linear and state-space layers of a loaded model, kept at the inputs of their kernel.

Such a layer has no softmax weights, but it is linear in its values: its output is A V with an
exact matrix A of tokens by tokens (attnviz.variants.effective). RWKV's channels and FNet's Fourier
transform have one too. What drives the state is kept, as queries and keys are of attention, and
any part of A is computed from it when it is looked at.
"""
