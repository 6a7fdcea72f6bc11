"""What mixers remember: keys and values stored, then asked for again, without any training."""
