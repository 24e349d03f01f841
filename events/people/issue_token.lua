-- Makes a token of a person who is there.
--
-- KEYS  1 person  2 token  3 tokens of the person
-- ARGV  1 packed person  2 id of the token  3 its description  4 most tokens
-- Returns 'created', 'nobody' or 'too many'.
--
-- redis-py repeats a command whose reply was lost: a token with this very id is its first attempt's work.

if redis.call('EXISTS', KEYS[1]) == 0 then return 'nobody' end
if redis.call('HLEN', KEYS[3]) >= tonumber(ARGV[4]) and redis.call('HEXISTS', KEYS[3], ARGV[2]) == 0 then
  return 'too many'
end
redis.call('SET', KEYS[2], string.sub(KEYS[2], -64) .. ARGV[1])
redis.call('HSET', KEYS[3], ARGV[2], ARGV[3])
return 'created'
