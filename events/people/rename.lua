-- Gives a person another name, everywhere at once, or changes nothing.
--
-- KEYS  1 person  2 old name  3 new name  4 old skeleton  5 new skeleton  6 sessions  7 tokens
-- ARGV  1 id  2 new name  3 packed person with the new name, of the kind that it had when it was read
-- Returns 1, or 0 when the name, or one that looks like it, is taken, or there is no such person, or it is being erased.

if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], 'erasing') == 1 then return 0 end
for _, key in ipairs({KEYS[3], KEYS[5]}) do
  local owner = redis.call('GET', key)
  if owner and owner ~= ARGV[1] then return 0 end
end
for _, key in ipairs({KEYS[2], KEYS[4]}) do
  if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end
end
redis.call('SET', KEYS[3], ARGV[1])
redis.call('SET', KEYS[5], ARGV[1])
redis.call('HSET', KEYS[1], 'name', ARGV[2])
local renamed = cjson.decode(ARGV[3])
renamed[3] = redis.call('HGET', KEYS[1], 'kind')
local packed_person = cjson.encode(renamed)
for _, key in ipairs(redis.call('ZRANGE', KEYS[6], 0, -1)) do
  if redis.call('EXISTS', key) == 1 then redis.call('SET', key, string.sub(key, -64) .. packed_person, 'KEEPTTL') end
end
for _, packed in ipairs(redis.call('HVALS', KEYS[7])) do
  local key = cjson.decode(packed)[3]
  redis.call('SET', key, string.sub(key, -64) .. packed_person)
end
return 1
