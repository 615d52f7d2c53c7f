-- What is sorted into the index of words is so by yet more at once: each time the
-- places of the usual words are written anew.
ALTER INDEX found_by_words SET (gin_pending_list_limit = 16384);
