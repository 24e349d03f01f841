-- Records what became of a mail and forgets its content; nothing of a person erased meanwhile.
--
-- KEYS  1 base of the inbox (work_list.lua)  2 mails  3 contents
-- ARGV  1 player  2 digest  3 token of the claim  4 JSON of the mail

if work.finish(ARGV[1] .. ' ' .. ARGV[2], ARGV[3]) == 0 then return end
if redis.call('HEXISTS', KEYS[2], ARGV[2]) == 1 then redis.call('HSET', KEYS[2], ARGV[2], ARGV[4]) end
redis.call('HDEL', KEYS[3], ARGV[2])
