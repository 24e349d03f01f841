-- Stores the result of a slice that was claimed; of the first one also the slices that it has planned.
--
-- KEYS  1 base of the work list of the fleet (work_list.lua)  2 job  3 results
-- ARGV  1 entry  2 token of the claim  3 number  4 result  5 units
--       6 how many slices there are at the end of each stage, or ""  7 units of all slices  8 id of the job
--       9 instant at which slices are due that have not begun  10 ... the slices
-- Returns 1, or 0 when the claim is lost.
--
-- Crash-safe: a result is stored and counted in one step, and only while it is claimed, so once.

if work.finish(ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('HSET', KEYS[3], ARGV[3], ARGV[4])
redis.call('HINCRBY', KEYS[2], 'units_done', ARGV[5])
redis.call('HINCRBY', KEYS[2], 'done', 1)
if ARGV[6] ~= '' then
  local job = ARGV[8]
  for place = 10, #ARGV do
    work.add(string.format('%s:%07d', job, place - 9), job, job, 1, ARGV[9], ARGV[place], '')
  end
  redis.call('HSET', KEYS[2], 'stages', ARGV[6], 'slices', #ARGV - 8, 'units', ARGV[7])
end
return 1
