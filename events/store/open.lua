-- Reads a stream, its head and the record of a request at one instant and in one round trip.
--
-- KEYS  1 events  2 head and requests  3 snapshot  4 conditional moves
-- ARGV  1 read the events after this version, "" for those after the snapshot  2 field of the request or ""
--       3 length of the part of its value that identifies its content

local after = ARGV[1]
local snapshot = false
if after == '' then
  local cached = redis.call('HMGET', KEYS[3], 'v', 's')
  after, snapshot = cached[1] or '0', cached[2]
end
local known = redis.call('HMGET', KEYS[2], 'v', 'd', ARGV[2], 'o')
if known[3] then
  local last, content = string.match(known[3], '^%d+:(%d+)(.*)$')
  local written = string.sub(content, ARGV[3] + 1)
  local found = redis.call('XRANGE', KEYS[1], last .. '-0', last .. '-0')
  -- What it wrote may have been lost, with another event in its place: then the request counts as new.
  if tonumber(last) > tonumber(known[1]) or (found[1] and string.sub(found[1][2][4], 1, #written) ~= written) then
    known[3] = false
  end
end
return {
  known,
  redis.call('XRANGE', KEYS[1], string.format('%d-0', after + 1), '+'),
  after,
  snapshot,
  redis.call('HGETALL', KEYS[4]),
}
