-- Removes a reminder unless it was put off meanwhile.
--
-- KEYS  1 reminders
-- ARGV  1 match and player  2 instant for which it was found

local at = redis.call('ZSCORE', KEYS[1], ARGV[1])
if at and tonumber(at) == tonumber(ARGV[2]) then redis.call('ZREM', KEYS[1], ARGV[1]) end
