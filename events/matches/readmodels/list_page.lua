-- Returns a part of a list with all that a page shows of its matches.
--
-- KEYS  1 list
-- ARGV  1 first score  2 last score  3 number of matches  4 ZRANGEBYSCORE, or ZREVRANGEBYSCORE from the greatest on
--       5 prefix of the keys of summaries  6 prefix of the keys of matches in the event store
-- Returns for each match its id, its score, its summary (false: none here) and the version of its last event.
--
-- Only the list says whose keys these are; all of them have its hash tag and therefore its slot.

local listed = redis.call(ARGV[4], KEYS[1], ARGV[1], ARGV[2], 'WITHSCORES', 'LIMIT', 0, ARGV[3])
local rows = {}
for place = 1, #listed, 2 do
  local match = listed[place]
  local version = redis.call('HGET', ARGV[6] .. match .. ':h', 'v')
  rows[#rows + 1] = {match, listed[place + 1], redis.call('GET', ARGV[5] .. match), version}
end
return rows
