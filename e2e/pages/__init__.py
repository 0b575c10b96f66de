"""Page objects: what a person sees and does; waiting is theirs, asserting is the journey's."""
