-- Records that time is kept now; a gap since the last beat that is too long becomes an outage.
--
-- KEYS  1 last beat  2 outages  3 uncredited  4 provisional  5 offsets of clocks
-- ARGV  1 now  2 longest gap  3 outages since  4 provisional from  5 name of the process or ""
--       6 instant by the caller's clock  7 the same  8 how many milliseconds it may differ from the server's TIME; all
--         three "": the clocks are not compared
-- Returns the outages that end after ARGV 3, or {'clock', TIME in milliseconds} when the clocks differ.
--
-- Crash-safe: a gap is recorded, marked to be credited and closed by the new beat in one step.

local last = redis.call('GET', KEYS[1])
if ARGV[6] ~= '' then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  if ARGV[5] ~= '' then
    redis.call('HSET', KEYS[5], ARGV[5], string.format('%.0f:%.0f', ARGV[6] - now, now))
  end
  if math.abs(ARGV[6] - now) > tonumber(ARGV[8]) or ARGV[7] - now > tonumber(ARGV[8]) then
    return {'clock', string.format('%.0f', now)}
  end
  -- The store's own clock was wrong when this was said: time cannot have been kept in the future.
  if last and tonumber(last) > now + tonumber(ARGV[8]) then
    redis.call('SET', KEYS[1], ARGV[1])
    last = ARGV[1]
  end
end
local gap = tonumber(ARGV[1]) - tonumber(last or ARGV[1])
if gap > tonumber(ARGV[2]) then
  redis.call('ZADD', KEYS[2], ARGV[1], last .. ':' .. ARGV[1])
  redis.call('ZADD', KEYS[3], ARGV[1], last .. ':' .. ARGV[1])
  if gap > tonumber(ARGV[4]) then
    redis.call('ZADD', KEYS[4], ARGV[1], last .. ':' .. ARGV[1])
  end
end
if not last or gap > 0 then redis.call('SET', KEYS[1], ARGV[1]) end
return redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[3], '+inf')
