-- No event's ID is given twice, also when the newest events were deleted: a
-- cursor of the feed is the ID of an event.

ALTER TABLE indexed ADD COLUMN gone INTEGER NOT NULL DEFAULT 0; -- the greatest ID of an event that was deleted; 0 if none was
