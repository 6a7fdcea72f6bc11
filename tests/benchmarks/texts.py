"""A text of any length."""


def text_of(n_tokens: int) -> str:
    """Words of about one token each, and no two lines alike."""
    words = ("the", "cat", "sat", "on", "a", "mat", "because", "it", "was", "warm", "and", "dry")
    return " ".join(words[(i * 7 + i // 5) % len(words)] for i in range(n_tokens - 1))
