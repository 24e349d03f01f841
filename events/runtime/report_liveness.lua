-- Records that a relay lives, and how long its lines of work have been silent, by the server's clock.
--
-- KEYS  1 relays
-- ARGV  1 name of the relay  2 its silences as JSON  3 how many milliseconds a relay that reports no more is remembered
-- Returns the present instant and all relays, with the instants of their reports: what RedisLiveness._read reads.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f %s', now, ARGV[2]))
local relays = redis.call('HGETALL', KEYS[1])
for place = 1, #relays, 2 do
  if now - tonumber(string.match(relays[place + 1], '^%d+')) > tonumber(ARGV[3]) then
    redis.call('HDEL', KEYS[1], relays[place])
  end
end
return {string.format('%.0f', now), relays}
