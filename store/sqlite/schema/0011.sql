-- Where the messages begin whose words are first_words and last_prompt: seqs. 0:
-- it is not known, or there are none.
ALTER TABLE sessions ADD COLUMN first_words_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN last_prompt_at INTEGER NOT NULL DEFAULT 0;
