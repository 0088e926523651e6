-- A person types into a file of a large program in Neovim, key by key, and pauses after each step.
--
-- Started by typing.test.mjs as `nvim --headless --clean -u typing.lua`, in a copy of spin's sources, with `everproof` on PATH. The
-- keys are those of the file EVERPROOF_TYPED. Writes what came of each step, as JSON, to the file EVERPROOF_RESULTS.

local PATIENCE = 300000 -- milliseconds; only a session that fails waits this long
local KEY, PAUSE = 90, 1400 -- milliseconds between two keys, and after a step

local results = {}
local buffer

local function until_true(what, check)
  assert(vim.wait(PATIENCE, check, 10), 'never: ' .. what)
end

local function wait(milliseconds)
  vim.wait(milliseconds, function() return false end)
end

local function place_after(words) -- from 0
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), '\n') .. '\n'
  local _, last = text:find(words, 1, true)
  assert(last, 'not in the text: ' .. words)
  local above = text:sub(1, last)
  local _, row = above:gsub('\n', '')
  return row, #above:match('[^\n]*$')
end

local function press(row, column, key) -- the place after it
  vim.api.nvim_buf_set_text(buffer, row, column, row, column, key == '\n' and { '', '' } or { key })
  wait(KEY)
  return key == '\n' and row + 1 or row, key == '\n' and 0 or column + 1
end

local function backspace(row, column)
  local before, start = row, column - 1
  if column == 0 then
    before, start = row - 1, #vim.api.nvim_buf_get_lines(buffer, row - 1, row, true)[1]
  end
  vim.api.nvim_buf_set_text(buffer, before, start, row, column, { '' })
  wait(KEY)
  return before, start
end

local function type_step(step)
  local row, column = place_after(step.after)
  for key in (step.type or ''):gmatch('.') do
    row, column = press(row, column, key)
  end
  for _ = 1, step.backspace or 0 do
    row, column = backspace(row, column)
  end
  wait(PAUSE)
end

local function clients()
  return (vim.lsp.get_clients or vim.lsp.get_active_clients)()
end

local steps = {
  { 'the program is checked', function()
    vim.cmd('edit run.c')
    buffer = vim.api.nvim_get_current_buf()
    until_true('checked', function() return vim.b[buffer].everproof == 'idle' end)
  end },
}
for _, step in ipairs(vim.fn.json_decode(vim.fn.readfile(vim.env.EVERPROOF_TYPED))) do
  table.insert(steps, { step.note, function() type_step(step) end })
end
table.insert(steps, { 'the server ends with the editor', function()
  until_true('checked', function() return vim.b[buffer].everproof == 'idle' end)
  local client = clients()[1]
  if vim.fn.has('nvim-0.11') == 1 then client:stop() else client.stop() end
  until_true('stopped', function() return #clients() == 0 end)
end })

vim.cmd('filetype on')
vim.cmd('luafile ' .. vim.fn.fnameescape(vim.env.EVERPROOF_CONFIGURATION))
for _, step in ipairs(steps) do
  local held, problem = xpcall(step[2], debug.traceback)
  table.insert(results, { name = step[1], error = not held and tostring(problem) or nil })
  if not held then
    break
  end
end
local version = vim.fn.matchstr(vim.fn.execute('version'), 'NVIM v[0-9.]\\+')
local file = assert(io.open(vim.env.EVERPROOF_RESULTS, 'w'))
file:write(vim.fn.json_encode({ version = version, steps = #steps, results = results }))
file:close()
vim.cmd(results[#results].error and 'cquit!' or 'qall!')
