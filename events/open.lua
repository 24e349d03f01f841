-- Reads a stream, its head and what is remembered of a request at one instant and in one round trip.
--
-- KEYS  1 events  2 head and requests  3 snapshot  4 orders
-- ARGV  1 read the events after this version, "" for after the snapshot  2 field of the request or ""

local after = ARGV[1]
local snapshot = false
if after == '' then
  local kept = redis.call('HMGET', KEYS[3], 'v', 's')
  after, snapshot = kept[1] or '0', kept[2]
end
return {
  redis.call('HMGET', KEYS[2], 'v', 'd', ARGV[2], 'o'),
  redis.call('XRANGE', KEYS[1], string.format('%d-0', after + 1), '+'),
  after,
  snapshot,
  redis.call('HGETALL', KEYS[4]),
}
