-- A client of the Agent Client Protocol in Neovim. nvim 0.7 has no -l: it is run with
-- -c luafile. The arguments are in SKEIN_TEST_NVIM, a
-- JSON array: the program that is the agent, and the folder to work in.
local args = vim.json.decode(vim.env.SKEIN_TEST_NVIM)
local program, work = args[1], args[2]

local function see(what) io.stdout:write(vim.json.encode(what) .. "\n") end

-- start starts the agent and returns a function that makes a request of it and waits.
local function start()
  local answers, n, rest, kinds, said = {}, 0, "", {}, ""
  local job
  local function send(m)
    m.jsonrpc = "2.0"
    vim.fn.chansend(job, vim.json.encode(m) .. "\n")
  end
  local function take(line)
    local m = vim.json.decode(line)
    if m.method == "session/update" then
      local u = m.params.update
      kinds[u.sessionUpdate] = true
      if u.sessionUpdate == "agent_message_chunk" then said = said .. u.content.text end
    elseif m.method == "fs/read_text_file" then
      local lines = vim.api.nvim_buf_get_lines(vim.fn.bufnr(m.params.path), 0, -1, false)
      send({ id = m.id, result = { content = table.concat(lines, "\n") .. "\n" } })
    elseif m.method == "fs/write_text_file" then
      local text = m.params.content:gsub("\n$", "")
      vim.api.nvim_buf_set_lines(vim.fn.bufnr(m.params.path), 0, -1, false, vim.split(text, "\n"))
      send({ id = m.id, result = vim.empty_dict() })
    elseif m.method == "session/request_permission" then
      send({ id = m.id, result = { outcome = { outcome = "selected", optionId = m.params.options[1].optionId } } })
    elseif m.method == nil then
      answers[m.id] = m
    end
  end
  job = vim.fn.jobstart({ program, "acp" }, {
    cwd = work,
    on_stdout = function(_, data)
      data[1] = rest .. data[1]
      rest = table.remove(data)
      for _, line in ipairs(data) do take(line) end
    end,
  })
  local function ask(method, params)
    n = n + 1
    local id = n
    kinds, said = {}, ""
    send({ id = id, method = method, params = params })
    vim.wait(600000, function() return answers[id] ~= nil end, 10)
    local a = answers[id]
    if a == nil or a.error then error(method .. ": " .. vim.json.encode(a or "no answer")) end
    local seen = vim.tbl_keys(kinds)
    table.sort(seen)
    return a.result, seen, said
  end
  ask("initialize", {
    protocolVersion = 1,
    clientInfo = { name = "neovim", version = "0" },
    clientCapabilities = { fs = { readTextFile = true, writeTextFile = true } },
  })
  return ask, job
end

local ok, err = pcall(function()
  vim.cmd("edit " .. work .. "/a.txt")
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { "in the buffer, not saved" })
  local ask, job = start()
  local id = ask("session/new", { cwd = work, mcpServers = {} }).sessionId
  local r, _, said = ask("session/prompt", { sessionId = id, prompt = { { type = "text", text = "change it" } } })
  see({ what = "turn", stop = r.stopReason, said = said })
  see({ what = "buffer", text = vim.api.nvim_buf_get_lines(0, 0, -1, false)[1] })
  vim.fn.jobstop(job)
  vim.fn.jobwait({ job })
  ask = start()
  local all = ask("session/list", { cwd = work }).sessions
  see({ what = "list", n = #all, same = all[1].sessionId == id })
  local _, kinds
  _, kinds, said = ask("session/load", { sessionId = id, cwd = work, mcpServers = {} })
  see({ what = "load", prompt = vim.tbl_contains(kinds, "user_message_chunk"), said = said })
  r, _, said = ask("session/prompt", { sessionId = id, prompt = { { type = "text", text = "go on" } } })
  see({ what = "turn", stop = r.stopReason, said = said })
end)
if not ok then see({ what = "failed", error = err }) end
vim.cmd("qall!")
