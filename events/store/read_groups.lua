-- Reads new entries of a feed for several consumer groups.
--
-- KEYS  1 feed
-- ARGV  1 consumer  2 how many entries of each at most, then the groups
-- Returns the entries for each group, nil for one that cannot be read: the others have been delivered what is theirs.

local found = {}
for place = 3, #ARGV do
  local reply = redis.pcall('XREADGROUP', 'GROUP', ARGV[place], ARGV[1], 'COUNT', ARGV[2], 'STREAMS', KEYS[1], '>')
  found[place - 2] = not reply and {} or not reply.err and reply[1][2]
end
return found
