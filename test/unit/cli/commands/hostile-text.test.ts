import { join } from 'node:path'
import t, { type Test } from 'tap'
import { CLEAR } from '../../../../api-gateway/cli/src/batch/run-batch.ts'
import { commands } from '../../../../api-gateway/cli/src/commands/all.ts'
import { createDirectory } from '../../../support/directory.ts'
import { serve } from '../../../support/servers/serve.ts'
import { runCli, sendError, sendJson } from '../fake-world.ts'

// Pages, receivers and other people choose many texts that the service returns. No command may pass them to the terminal as they are.

/** Sets a title, clears the screen, reverses the line, and begins another one. By code point, so that this file contains none of it. */
const HOSTILE = `x\u{1b}]0;owned\u{7}\u{9b}2J\u{7f}\u{202e}gnp.\u{200b}\u{2066}\u{2028}\u{85}\u{0}\r\nFORGED`
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters
const HIDDEN = /[\u{0}-\u{9}\u{b}-\u{1f}\u{7f}-\u{9f}\u{200b}\u{2028}\u{202e}\u{2066}]/u

const TIME = '2026-11-24T12:00:00Z'
const ID = 'scr_6ybsne2r7m8z0q3x5v1c4h9kf0'
const run = { id: HOSTILE, scheduled_at: TIME, status: HOSTILE, completed_at: HOSTILE, error_code: HOSTILE, changed: null }
const problem = { code: HOSTILE, message: HOSTILE }
const component = { status: 'operational', response_time_ms: HOSTILE }

/** One body for every route. Its texts are hostile, except those that choose what a command does next. */
const record = {
  ...{ id: HOSTILE, url: HOSTILE, name: HOSTILE, key: HOSTILE, link_secret: HOSTILE, run_id: HOSTILE, message: HOSTILE, format: HOSTILE },
  ...{ last_four: HOSTILE, scopes: [HOSTILE], events: [HOSTILE], expires_at: HOSTILE, last_used_at: HOSTILE, is_active: true },
  ...{ created_at: HOSTILE, completed_at: HOSTILE, started_at: null, warnings: [HOSTILE], options: { user_agent: HOSTILE } },
  ...{ width: HOSTILE, height: HOSTILE, file_size_bytes: 1, processing_duration_ms: 1, duration_ms: null, comparison: null, error: null },
  ...{ schedule: HOSTILE, time_zone: HOSTILE, problem, active_runs: [run], recent_runs: [run], next_run_at: HOSTILE, last_run_at: HOSTILE },
  ...{ last_success_at: HOSTILE, scheduled_at: HOSTILE, error_code: HOSTILE, changed: null, changed_ratio: null },
  ...{ period: HOSTILE, count: HOSTILE, limit: HOSTILE, percentage: HOSTILE, remaining: 1, reset_at: HOSTILE, plan: HOSTILE },
  ...{ rate_limit_per_minute: HOSTILE, overage: { count: HOSTILE } },
  ...{ status_code: HOSTILE, response_time_ms: HOSTILE, version: HOSTILE, components: { database: component, storage: component } },
}

const LISTS = /\/(screenshots|videos|schedules|keys|webhooks|runs)$/

/** A service that returns the record for everything. Captures have this status. */
async function aService(t: Test, status: 'completed' | 'failed' | 'error') {
  const url = await serve(t, (request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    const file = { download_url: `${url}/picture`, artifacts: [{ type: HOSTILE, download_url: `${url}/picture`, file_size_bytes: 1 }] }
    const found = { ...record, ...file, status, success: status === 'completed', error: status === 'failed' ? problem : null }
    if (status === 'error') sendError(response, 422, HOSTILE, HOSTILE)
    else if (path === '/picture') response.writeHead(200).end('picture')
    else if (request.method === 'DELETE') response.writeHead(204).end()
    else if (request.method === 'GET' && LISTS.test(path)) sendJson(response, { data: [found], pagination: { has_more: false } })
    else if (/\/(screenshots|videos|status|current|run)(\/|$)/.test(path)) sendJson(response, found)
    else sendJson(response, { ...found, data: found })
  })
  const home = await createDirectory(t, 'cli')
  return { home, environment: { HOME: home, TINTYPE_URL: url, TINTYPE_API_KEY: 'key' } }
}

/** Calls of commands whose arguments are not ids. */
const otherCalls = (home: string): [command: string, args: string[], input?: string][] => [
  ['shot', ['a.example', '-o', join(home, 'one.png')]],
  ['shot', ['--urls', '-', '-o', join(home, 'many')], `https://a.example/${HOSTILE}\nhttps://b.example/\u{202e}\u{9b}`],
  ['shot', ['a.example', '--async']],
  ['delete', [ID, HOSTILE]],
  ['diff', ['a.example', 'b.example']],
  ['link', [`https://a.example/?${HOSTILE}`]],
  ['schedules create', ['@hourly', 'a.example']],
  ['schedules update', [ID, '--name', HOSTILE]],
  ['schedules delete', [HOSTILE]],
  ['keys create', [HOSTILE]],
  ['keys delete', [HOSTILE]],
  ['open', ['--no-browser']],
  ['mcp', [], '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'],
  ['config set', ['https://tintype.example/', 'key', '--profile', HOSTILE]],
  ['config list', []],
  ['config use', [HOSTILE]],
  ['config delete', [HOSTILE]],
  ['completion', [HOSTILE]],
]

/** At least one call of every command, by default with an id for each argument. */
function callsOf(home: string): ReturnType<typeof otherCalls> {
  const others = otherCalls(home)
  const usual = commands.filter(({ name }) => !others.some(([other]) => other === name))
  return [...usual.map(({ name, usage }): [string, string[]] => [name, usage?.split(' ').map(() => ID) ?? []]), ...others]
}

for (const status of ['completed', 'failed', 'error'] as const) {
  for (const flags of [[], ['--json']]) {
    t.test(`no command prints hidden characters: captures ${status}${flags.join()}`, async (t) => {
      const { home, environment } = await aService(t, status)
      let records = 0
      for (const [command, args, input = ''] of callsOf(home)) {
        const line = [...command.split(' '), ...args, ...flags]
        for (const isTerminal of flags.length === 0 ? [false, true] : [false]) {
          const { stdout, stderr } = await runCli(line, { environment, input, isTerminal })
          const text = (stdout + stderr).replaceAll(CLEAR, '')
          t.notMatch(text, HIDDEN, command)
          t.notMatch(text, /^FORGED/m, command)
          const texts = flags.length === 0 ? [] : stdout.split('\n').filter((part) => part.startsWith('{'))
          records += texts.filter((json) => JSON.stringify(JSON.parse(json)).includes(JSON.stringify(HOSTILE))).length
        }
      }
      if (flags.length > 0 && status !== 'error') t.ok(records > 15, `${records} records have the same texts after parsing`)
    })
  }
}
