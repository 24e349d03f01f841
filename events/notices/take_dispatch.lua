-- Leases the dispatch of a shard that has been due for longest.
--
-- KEYS  1 due
-- ARGV  1 now  2 end of the lease  3 what the keys of dispatches begin with  4 those of digests  5 ids of digests
-- Returns nothing when none is due, or the id, the JSON, the attempts with this one, the instant at which it was due,
-- and the notices of a digest.
--
-- Crash-safe: one step. A reply that is lost leaves a lease, which ends.

for _ = 1, 100 do
  local first = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'WITHSCORES', 'LIMIT', 0, 1)
  if not first[1] then return false end
  local player, id = string.match(first[1], '^(%S+) (.+)$')
  local dispatches = ARGV[3] .. player
  local stored = redis.call('HGET', dispatches, id)
  if stored then
    redis.call('ZADD', KEYS[1], ARGV[2], first[1])
    redis.call('HSET', dispatches, id .. '@', ARGV[2])
    local notices = {}
    if string.sub(id, 1, #ARGV[5]) == ARGV[5] then
      notices = redis.call('ZRANGEBYSCORE', ARGV[4] .. player, '-inf', ARGV[1])
    end
    return {id, stored, redis.call('HINCRBY', dispatches, id .. '#', 1), first[2], notices}
  end
  redis.call('ZREM', KEYS[1], first[1])
end
return false
