import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { commands } from '../../../api-gateway/cli/src/commands/all.ts'
import { overviewOf } from '../../../api-gateway/cli/src/run.ts'
import { assertEvery } from '../../support/accepts.ts'
import { runCli } from './fake-world.ts'

const LINES = 24
const COLUMNS = 80
const fits = (line: string): boolean => line.length <= COLUMNS

for (const args of [['--help'], ...commands.map(({ name }) => [...name.split(' '), '--help'])]) {
  t.test(`tintype ${args.join(' ')} fits a terminal`, async (t) => {
    const { code, stdout, stderr } = await runCli(args)
    t.equal(code, 0, stderr)
    const lines = stdout.trimEnd().split('\n')
    t.ok(lines.length <= LINES, `${lines.length} lines`)
    assertEvery(t, lines, fits)
    for (const line of lines)
      if (/^ {2}-/.test(line)) t.match(line, /^ {2}(-\w, )?--\S+( [A-Z][A-Z_]*)?($| {2,}\S)/, 'two spaces before the text')
  })
}

t.test('the help names every command and every exit code', async (t) => {
  const { stdout } = await runCli(['--help'])
  for (const { name } of commands) for (const word of name.split(' ')) t.match(stdout, new RegExp(`\\b${word}\\b`))
  for (const code of [0, 1, 2, 3, 130]) t.match(stdout, new RegExp(`\\b${code} [a-z]`))
})

t.test('the help ran a new command into the text beside it', async (t) => {
  t.match(overviewOf(['shot', 'version', 'version-of-service']), /^ {2}completion, version, version-of-service$/m)
})

t.test('the help of a group has the common options once', async (t) => {
  const { stdout } = await runCli(['schedules', '--help'])
  t.equal(stdout.split('--server URL').length, 2)
  t.match(stdout, /^tintype schedules runs ID$/m)
})

t.test('the help of options has every option, in groups, wrapped for a terminal of 80 columns', async (t) => {
  const { stdout } = await runCli(['--help', 'options'])
  t.match(stdout, /^Viewport\n {2}--viewport-width N /)
  t.match(stdout, /^ {2}--\[no-\]full-page +Captures the whole scrollable page/m)
  t.equal((await runCli(['shot', '--help', 'options'])).stdout, stdout)
  assertEvery(t, stdout.split('\n'), fits)
})

t.test('the help of options names what compare-ignore takes, and finds options by a word', async (t) => {
  const { stdout } = await runCli(['--help', 'options', 'Compare'])
  t.match(stdout, /^ {2}--compare-ignore SELECTOR /m)
  t.notMatch(stdout, /--viewport-width/)
  t.equal((await runCli(['shot', '--help', 'options', 'compare'])).stdout, stdout)
  t.match(await runCli(['--help', 'options', 'frobnicate']), { code: 2, stderr: /no option has "frobnicate" in its name or text/ })
})

t.test('wrong usage is one line and exit code 2', async (t) => {
  const cases: [args: string[], message: string][] = [
    [['shoot'], 'unknown command "shoot". Did you mean shot?'],
    [['frobnicate'], 'unknown command "frobnicate". Run `tintype --help` to list the commands.'],
    [['keys'], 'keys needs a second word: list, create, delete, rotate, policy, check-url, link-secret, rotate-link-secret.'],
    [
      ['keys', 'remove', 'x'],
      'unknown command "keys remove": list, create, delete, rotate, policy, check-url, link-secret, rotate-link-secret.',
    ],
    [['--json', 'list'], 'the command comes before --json. Run `tintype --help` to list the commands.'],
    [['shot'], 'a URL is missing. Name one, or a list of URLs with --urls FILE.'],
    [['get'], '`tintype get` needs ID. Add --help for the usage.'],
    [['usage', 'now'], '`tintype usage` takes no arguments. Add --help for the usage.'],
    [['shot', 'a.example', '--html', '<p>'], '--html and --markdown replace the URL. Leave the URL out.'],
    [['shot', 'a.example', 'b.example', '-o', '-'], 'several pictures do not fit into standard output. Name a folder with -o.'],
    [['shot', 'a.example', '-o', '-', '--json'], '-o - and --json both write to standard output. Leave one of them out.'],
    [['shot', 'a.example', 'b.example', '--parallel', '0'], '--parallel must be 1 to 64, but is 0.'],
    [['shot', 'a.example', '--name', '{x}'], '--name contains {x}. Use {host}, {path}, {n}, {format}.'],
    [['shot', '--urls', '-'], 'the list has no URLs. Write one on each line.'],
    [['shot', 'a.example', '--frobnicate'], 'unknown option --frobnicate. See `tintype shot --help` and `tintype --help options`.'],
    [['usage', '--frobnicate'], 'unknown option --frobnicate. Add --help to list the options.'],
    [['completion', 'csh'], 'there is no completion for "csh". Use bash, zsh or fish.'],
  ]
  const environment = { TINTYPE_URL: 'http://127.0.0.1:1', TINTYPE_API_KEY: 'key' }
  for (const [args, message] of cases) {
    const { code, stdout, stderr } = await runCli(args, { environment })
    t.strictSame({ code, stdout, stderr }, { code: 2, stdout: '', stderr: `tintype: ${message}\n` }, args.join(' '))
  }
})

t.test('without a command the help goes to standard error', async (t) => {
  const { code, stdout, stderr } = await runCli([])
  t.match({ code, stdout, stderr }, { code: 2, stdout: '', stderr: /^Usage: tintype COMMAND/ })
})

t.test('a picture is not written to a terminal', async (t) => {
  const { code, stderr } = await runCli(['shot', 'a.example', '-o', '-'], { isTerminal: true })
  t.match({ code, stderr }, { code: 2, stderr: /would be written to the terminal/ })
})

t.test('settings that are missing are named, with exit code 3', async (t) => {
  const { code, stderr } = await runCli(['usage'])
  t.equal(code, 3)
  t.equal(stderr, 'tintype: the URL of the service is not set. Set TINTYPE_URL and TINTYPE_API_KEY, or run `tintype config set URL -`.\n')
})

t.test('help recommends to keep an API key out of the history of the shell, and names the profile that config set stores', async (t) => {
  for (const words of [[], ['config'], ['config', 'set']]) {
    const { stdout } = await runCli([...words, '--help'])
    t.notMatch(stdout, /config set URL KEY`/, words.join(' '))
  }
  const help = (await runCli(['config', 'set', '--help'])).stdout
  t.strictSame(help.match(/--profile.*/g), ['--profile NAME             Profile to store; default: default'])
})

t.test('npx tintype works in a checkout, which has no bundle', async (t) => {
  const folder = fileURLToPath(new URL('../../../api-gateway/cli/', import.meta.url))
  const { bin } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8')) as { bin: Record<string, string> }
  for (const file of new Set(Object.values(bin))) {
    const { stdout } = await promisify(execFile)(process.execPath, [path.join(folder, file), 'version'])
    t.match(stdout, /^tintype \d/)
  }
})

t.test('in a checkout, a Node.js that cannot run TypeScript gets one line that says what to do', async (t) => {
  const file = new URL('../../../api-gateway/cli/tintype.js', import.meta.url).pathname
  const { status, stderr } = spawnSync(process.execPath, ['--no-strip-types', file, 'version'], { encoding: 'utf8', env: {} })
  t.equal(status, 1)
  t.match(stderr, /^tintype: .*needs Node\.js 24 or newer.*npx tintype.*\n$/)
})
