-- A person's session in Neovim, with the configuration that the documentation tells people to copy (docs/editors/everproof.lua).
--
-- Started by neovim.test.mjs as `nvim --headless --clean -u session.lua`, in a copy of fixtures/demo, with `everproof` on PATH.
-- Writes what came of each step, as JSON, to the file EVERPROOF_RESULTS. A step that fails ends the session.

local PATIENCE = 180000 -- milliseconds; only a session that fails waits this long
local DEFECT = { '\tif (item->count == 0)', '\t\titem_free(item);' }

local results = {}
local buffer, line -- the buffer of inventory.c; the first line of the defect, from 0

local function until_true(what, check)
  assert(vim.wait(PATIENCE, check, 10), 'never: ' .. what)
end

local function clients()
  return (vim.lsp.get_clients or vim.lsp.get_active_clients)()
end

local function findings()
  return vim.tbl_filter(function(found)
    return found.source == 'everproof'
  end, vim.diagnostic.get(buffer))
end

local function lsp_of(found) -- Neovim keeps of a diagnostic what it does not know itself here; 0.7 keeps nothing else
  return vim.tbl_extend('keep', found.user_data.lsp, {
    message = found.message,
    source = found.source,
    severity = found.severity,
    range = { start = { line = found.lnum, character = found.col }, ['end'] = { line = found.end_lnum, character = found.end_col } },
  })
end

local function request(method, params)
  local answers = assert(vim.lsp.buf_request_sync(buffer, method, params, PATIENCE), method .. ' was not answered')
  local _, answer = next(answers)
  assert(answer and not answer.error and not answer.err, vim.inspect(answers))
  return answer.result
end

local function actions(found)
  local lsp = lsp_of(found)
  local params = { textDocument = { uri = vim.uri_from_bufnr(buffer) }, range = lsp.range, context = { diagnostics = { lsp } } }
  return request('textDocument/codeAction', params)
end

local function choose(found, words) -- as vim.lsp.buf.code_action does with the one that was chosen
  local client = clients()[1]
  for _, action in ipairs(actions(found)) do
    if action.title:find(words, 1, true) then
      if action.edit then
        vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding)
      else
        local run = assert(vim.lsp.commands[action.command.command], action.command.command .. ' has no handler')
        run(action.command, { client_id = client.id, bufnr = buffer })
      end
      return
    end
  end
  error('no action: ' .. words)
end

local function type_keys(row, column, text) -- from 0; one key an edit, and Neovim goes on with its other work between two
  for key in text:gmatch('.') do
    vim.api.nvim_buf_set_text(buffer, row, column, row, column, key == '\n' and { '', '' } or { key })
    row, column = key == '\n' and row + 1 or row, key == '\n' and 0 or column + 1
    vim.wait(20, function() return false end)
  end
end

local steps = {
  { 'the server is attached when a C file is opened', function()
    vim.cmd('edit inventory.c')
    buffer = vim.api.nvim_get_current_buf()
    until_true('attached', function() return clients()[1] ~= nil and clients()[1].server_capabilities ~= nil end)
    until_true('checked', function() return vim.b[buffer].everproof == 'idle' end)
    assert(#findings() == 0, vim.inspect(findings()))
    assert(clients()[1].config.root_dir == vim.fn.getcwd(), clients()[1].config.root_dir)
  end },
  { 'a defect that is typed is found', function()
    for number, text in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, true)) do
      if text == '\titem->count -= count;' then
        line = number
      end
    end
    vim.api.nvim_buf_set_lines(buffer, line, line, true, { '' })
    type_keys(line, 0, table.concat(DEFECT, '\n'))
    until_true('a finding', function() return #findings() > 0 end)
    local found = findings()[1]
    local lsp = lsp_of(found)
    assert(lsp.code == 'use-after-free', vim.inspect(lsp))
    assert(found.severity == vim.diagnostic.severity.WARN or found.severity == vim.diagnostic.severity.ERROR, vim.inspect(found))
    assert(#lsp.relatedInformation > 2, 'a trace')
  end },
  { 'a hover on a function says its verdict', function()
    until_true('a verdict', function()
      local params = { textDocument = { uri = vim.uri_from_bufnr(buffer) } }
      for number, text in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, true)) do
        if text:find('static int sell(', 1, true) then
          params.position = { line = number - 1, character = #'static int s' }
        end
      end
      local hover = request('textDocument/hover', params)
      local said = hover.contents.value
      return said:find('**sell**: ✗ confirmed: use-after-free', 1, true) ~= nil
        or said:find('**sell**: ⚠ possible: use-after-free', 1, true) ~= nil
    end)
  end },
  { 'the code action shows the trace in the quickfix list, through both files', function()
    choose(findings()[1], 'show the trace')
    until_true('a quickfix list', function() return #vim.fn.getqflist() > 0 end)
    local files = {}
    for _, item in ipairs(vim.fn.getqflist()) do
      files[vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ':t')] = true
      assert(item.text ~= '' and item.lnum > 0, vim.inspect(item))
    end
    assert(files['inventory.c'] and files['item.c'], vim.inspect(files))
    assert(#vim.fn.getqflist() == #lsp_of(findings()[1]).relatedInformation)
    vim.cmd('cclose')
  end },
  { 'the code action runs a full check, which finds the same', function()
    local told
    local notify = vim.notify
    vim.notify = function(message) told = message end
    choose(findings()[1], 'full check')
    until_true('an answer', function() return told ~= nil end)
    vim.notify = notify
    assert(told == 'Everproof: the full check is complete, findings: 1', told)
    assert(#findings() == 1, vim.inspect(findings()))
  end },
  { 'a suppression with its reason takes the finding away', function()
    local row = findings()[1].lnum
    choose(findings()[1], 'suppress')
    local comment = vim.api.nvim_buf_get_lines(buffer, row, row + 1, true)[1]
    assert(comment:find('// everproof: ignore use-after-free ', 1, true), comment)
    type_keys(row, #comment, 'tested below')
    until_true('no finding', function() return #findings() == 0 end)
    vim.api.nvim_buf_set_lines(buffer, row, row + 1, true, {})
    until_true('the finding again', function()
      return #findings() == 1 and lsp_of(findings()[1]).code == 'use-after-free'
    end)
  end },
  { 'the mended text has no finding', function()
    vim.api.nvim_buf_set_lines(buffer, line, line + #DEFECT, true, {})
    until_true('no finding', function() return #findings() == 0 end)
    until_true('checked', function() return vim.b[buffer].everproof == 'idle' end)
  end },
  { 'the server ends with the editor', function()
    local client = clients()[1]
    if vim.fn.has('nvim-0.11') == 1 then client:stop() else client.stop() end
    until_true('stopped', function() return #clients() == 0 end)
  end },
}

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
