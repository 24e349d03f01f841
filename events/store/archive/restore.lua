-- Puts an archived match back among the live ones, or changes nothing. Its read models follow by projection.
--
-- KEYS  1 events  2 head and requests  3 part of the catalogue  4 live streams  5 archived streams
-- ARGV  1 field of the catalogue  2 value of the catalogue  3 version  4 digest  5 revision of conditional moves
--       6 match  then for each event: its packed bytes, its digest
--
-- Crash-safe: a match is live or archived, never both or neither. A second caller finds it live.

if redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] or redis.call('EXISTS', KEYS[1], KEYS[2]) ~= 0 then
  return 0
end
for place = 7, #ARGV, 2 do
  redis.call('XADD', KEYS[1], string.format('%d-0', (place - 5) / 2), 'b', ARGV[place], 'h', ARGV[place + 1])
end
redis.call('HSET', KEYS[2], 'v', ARGV[3], 'd', ARGV[4])
if ARGV[5] ~= '0' then
  redis.call('HSET', KEYS[2], 'o', ARGV[5])
end
redis.call('HDEL', KEYS[3], ARGV[1])
redis.call('LREM', KEYS[5], -1, ARGV[6])
redis.call('RPUSH', KEYS[4], ARGV[6])
return 1
