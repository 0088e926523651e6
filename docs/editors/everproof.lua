-- Everproof in Neovim, 0.7 or newer. Copy this file to ~/.config/nvim/plugin/everproof.lua; `everproof` must be on PATH.
--
-- It runs beside other servers, such as clangd. The code action "show the trace" puts the steps into the quickfix list, from the error
-- back, where :cnext and :cprevious step through them. b:everproof says `checking`, `idle` or `failed`, for a status line.

local settings = { mode = 'continuous' } -- see docs/settings.md
local markers = { 'compile_commands.json', '.everproof.toml', '.git' }

local function root_of(file)
  local folder = vim.fn.fnamemodify(file, ':p:h')
  for _, marker in ipairs(markers) do
    for _, find in ipairs({ vim.fn.findfile, vim.fn.finddir }) do
      local found = find(marker, vim.fn.escape(folder, ' ;') .. ';')
      if found ~= '' then
        return vim.fn.fnamemodify(found, ':p:s?/$??:h')
      end
    end
  end
  return folder
end

local function configuration(root)
  return {
    name = 'everproof',
    cmd = { 'everproof', 'serve' },
    root_dir = root,
    settings = { everproof = settings },
    handlers = {
      ['everproof/status'] = function(_, status)
        local buffer = vim.uri_to_bufnr(status.uri)
        if vim.api.nvim_buf_is_loaded(buffer) then
          vim.b[buffer].everproof = status.state
        end
      end,
    },
  }
end

local started = {} -- the client of each root, for Neovim 0.7, which has no vim.lsp.start

local function attach(buffer)
  local root = root_of(vim.api.nvim_buf_get_name(buffer))
  if vim.lsp.start then
    vim.lsp.start(configuration(root), { bufnr = buffer })
    return
  end
  if not (started[root] and vim.lsp.get_client_by_id(started[root])) then
    started[root] = vim.lsp.start_client(configuration(root))
  end
  vim.lsp.buf_attach_client(buffer, started[root])
end

vim.api.nvim_create_autocmd('FileType', {
  pattern = 'c',
  callback = function(event)
    attach(event.buf or tonumber(vim.fn.expand('<abuf>')))
  end,
})

-- Runs a command of the server and hands its answer on.
local function execute(command, context, answered)
  local client = vim.lsp.get_client_by_id(context.client_id)
  local params = { command = command.command, arguments = command.arguments }
  local function handler(problem, answer)
    if problem then
      vim.notify('Everproof: ' .. problem.message, vim.log.levels.WARN)
    else
      answered(answer, client)
    end
  end
  if vim.fn.has('nvim-0.11') == 1 then
    client:request('workspace/executeCommand', params, handler, context.bufnr)
  else
    client.request('workspace/executeCommand', params, handler, context.bufnr)
  end
end

vim.lsp.commands['everproof.trace'] = function(command, context)
  execute(command, context, function(steps, client)
    local items = {}
    for _, step in ipairs(steps) do
      local item = vim.lsp.util.locations_to_items({ step }, client.offset_encoding)[1]
      item.text = step.summary
      table.insert(items, item)
    end
    vim.fn.setqflist({}, ' ', { title = command.title, items = items })
    vim.cmd('copen')
  end)
end

vim.lsp.commands['everproof.explainRule'] = function(command, context)
  execute(command, context, function(page)
    if page and page ~= vim.NIL then
      vim.cmd('split ' .. vim.fn.fnameescape(vim.uri_to_fname(page)))
    end
  end)
end

vim.lsp.commands['everproof.fullCheck'] = function(command, context)
  execute(command, context, function(answer)
    local outcome = answer.complete and ('complete, findings: ' .. answer.findings) or ('not complete: ' .. tostring(answer.reason))
    vim.notify('Everproof: the full check is ' .. outcome)
  end)
end
