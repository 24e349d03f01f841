-- Makes a person a bot with a capacity, or a bot an ordinary person, in the account, all sessions and all tokens at once.
--
-- KEYS  1 person  2 sessions  3 tokens  4 bots
-- ARGV  1 id  2 wanted kind  3 capacity, empty for none  4 packed person of the wanted kind
-- Returns 1, or 0 when there is no such person, it is a guest, or it is being erased.

local kind, erasing = unpack(redis.call('HMGET', KEYS[1], 'kind', 'erasing'))
if not kind or kind == 'guest' or erasing then return 0 end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], 'capacity')
  redis.call('ZREM', KEYS[4], ARGV[1])
else
  redis.call('HSET', KEYS[1], 'capacity', ARGV[3])
  redis.call('ZADD', KEYS[4], 0, ARGV[1])
end
if kind == ARGV[2] then return 1 end
redis.call('HSET', KEYS[1], 'kind', ARGV[2])
local person = cjson.decode(ARGV[4])
person[2] = redis.call('HGET', KEYS[1], 'name')
local packed_person = cjson.encode(person)
for _, key in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  if redis.call('EXISTS', key) == 1 then redis.call('SET', key, string.sub(key, -64) .. packed_person, 'KEEPTTL') end
end
for _, packed in ipairs(redis.call('HVALS', KEYS[3])) do
  local key = cjson.decode(packed)[3]
  redis.call('SET', key, string.sub(key, -64) .. packed_person)
end
return 1
