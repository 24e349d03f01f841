-- Brings the read model of one contest, and the lists that it is in, up to a version; an older one changes nothing.
--
-- KEYS  1 read model: version, content, names of its lists
-- ARGV  1 beginning of the keys of lists  2 contest  3 version  4 content, then for each list: its name, the score
--
-- All keys share the hash tag of contests.

local known = redis.call('HMGET', KEYS[1], 'version', 'lists')
if tonumber(known[1] or '0') > tonumber(ARGV[3]) then return 0 end
for name in string.gmatch(known[2] or '', '%S+') do
  redis.call('ZREM', ARGV[1] .. name, ARGV[2])
end
local names = {}
for place = 5, #ARGV, 2 do
  redis.call('ZADD', ARGV[1] .. ARGV[place], ARGV[place + 1], ARGV[2])
  names[#names + 1] = ARGV[place]
end
redis.call('HSET', KEYS[1], 'version', ARGV[3], 'content', ARGV[4], 'lists', table.concat(names, ' '))
return 1
