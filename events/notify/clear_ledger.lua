-- Erases the notices of a player, or those of them that do not wait to be sent.
--
-- KEYS  1 ledger  2 dropped  3 decided
-- ARGV  1 what the keys of the player's notices begin with  2 1 to erase what waits, too  3 what marks a delivery that
--       waits
-- Returns how many were erased.

local erased = 0
for _, place in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local notice, waits = ARGV[1] .. string.match(place, '^[^:]+'), false
  if ARGV[2] ~= '1' then
    local stored = redis.call('HGETALL', notice)
    for at = 1, #stored, 2 do
      waits = waits or (stored[at] ~= 'notice' and string.find(stored[at + 1], ARGV[3], 1, true))
    end
  end
  if not waits then
    redis.call('DEL', notice)
    redis.call('ZREM', KEYS[1], place)
    erased = erased + 1
  end
end
redis.call('DEL', KEYS[2])
if ARGV[2] == '1' then redis.call('DEL', KEYS[3]) end
return erased
