-- What a request costs hangs on more than its model: on how long the provider keeps
-- what was put into its cache, and on its tier (skein.Tier), which is the service tier
-- and how long the prompt was. So sums are kept by tier.
ALTER TABLE charges ADD COLUMN tier text COLLATE "C" NOT NULL DEFAULT '', ADD COLUMN cache_hour bigint NOT NULL DEFAULT 0; -- part of cache_write: for an hour
ALTER TABLE usage ADD COLUMN tier text COLLATE "C" NOT NULL DEFAULT '', ADD COLUMN cache_hour bigint NOT NULL DEFAULT 0;
ALTER TABLE usage DROP CONSTRAINT usage_pkey;

-- Row security hides the rows from whoever migrates.
ALTER TABLE charges NO FORCE ROW LEVEL SECURITY;
ALTER TABLE usage NO FORCE ROW LEVEL SECURITY;
ALTER TABLE doomed NO FORCE ROW LEVEL SECURITY;

-- Rows from before say how long a prompt was, all rows of a request together. They
-- do not say for how long it was cached, nor the service tier.
UPDATE charges c SET tier = '>' || CASE WHEN w.prompt > 512000 THEN 512000 WHEN w.prompt > 272000 THEN 272000
	WHEN w.prompt > 271999 THEN 271999 WHEN w.prompt > 200000 THEN 200000 WHEN w.prompt > 199999 THEN 199999 ELSE 128000 END
FROM (SELECT user_id, request, sum(input + cache_read + cache_write) AS prompt FROM charges WHERE request IS NOT NULL
	GROUP BY user_id, request HAVING sum(input + cache_read + cache_write) > 128000) w
WHERE c.user_id = w.user_id AND c.request = w.request;
UPDATE charges SET tier = '>' || CASE WHEN input + cache_read + cache_write > 512000 THEN 512000 WHEN input + cache_read + cache_write > 272000 THEN 272000
	WHEN input + cache_read + cache_write > 271999 THEN 271999 WHEN input + cache_read + cache_write > 200000 THEN 200000 WHEN input + cache_read + cache_write > 199999 THEN 199999 ELSE 128000 END
WHERE request IS NULL AND input + cache_read + cache_write > 128000;
WITH gone AS (
	DELETE FROM usage u WHERE EXISTS (SELECT FROM charges c WHERE c.user_id = u.user_id AND c.n = u.n AND c.tier <> '')
	RETURNING u.user_id, u.n, u.project, u.agent
)
INSERT INTO usage (user_id, n, slot, provider, model, tier, project, agent, input, output, reasoning, cache_read, cache_write, requests, reported)
SELECT c.user_id, c.n, c.slot, c.provider, c.model, c.tier, g.project, g.agent, sum(c.input), sum(c.output), sum(c.reasoning),
	sum(c.cache_read), sum(c.cache_write), sum(c.requests), sum(c.reported)
FROM (SELECT DISTINCT user_id, n, project, agent FROM gone) g JOIN charges c ON c.user_id = g.user_id AND c.n = g.n
WHERE NOT EXISTS (SELECT FROM doomed d WHERE d.user_id = c.user_id AND d.n = c.n AND c.seq > d.above)
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;

ALTER TABLE charges FORCE ROW LEVEL SECURITY;
ALTER TABLE usage FORCE ROW LEVEL SECURITY;
ALTER TABLE doomed FORCE ROW LEVEL SECURITY;

ALTER TABLE usage ADD PRIMARY KEY (user_id, n, slot, provider, model, tier);
