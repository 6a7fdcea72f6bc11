"""Small models that we train in the open, so that the textbook's stories can be seen in real ones.

Each has a script here that makes its weights from a seed, in minutes on two cores, and a card
beside the weights in assets/models/ that says what it learnt from and how well.
"""
