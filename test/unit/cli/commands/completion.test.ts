import { execFile, spawnSync } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { commands } from '../../../../api-gateway/cli/src/commands/all.ts'
import { assertEvery } from '../../../support/accepts.ts'
import { runCli } from '../fake-world.ts'

// The scripts run in real shells. TINTYPE_TEST_ZSH names a zsh that is not on the PATH.

const run = promisify(execFile)
const scriptFor = async (shell: string): Promise<string> => (await runCli(['completion', shell])).stdout

/** Why a test of a shell is left out, or false. */
const isMissing = (shell: string) => (spawnSync(shell, ['-c', 'true']).status === 0 ? false : `${shell} is not installed`)

let bash: string

/** What bash offers for words, of which the last is being typed. */
async function completeInBash(...words: string[]): Promise<string[]> {
  const program = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tintype; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout } = await run('bash', ['--norc', '--noprofile', '-c', program, 'bash', bash, 'tintype', ...words])
  return stdout.split('\n').filter((line) => line !== '')
}

t.test('bash completes commands, flags and values', async (t) => {
  bash = path.join(t.testdir({ 'tintype.bash': await scriptFor('bash') }), 'tintype.bash')
  t.strictSame(await completeInBash('sh'), ['shot'])
  t.strictSame(await completeInBash('keys', ''), [
    'list',
    'create',
    'delete',
    'rotate',
    'policy',
    'check-url',
    'link-secret',
    'rotate-link-secret',
  ])
  t.strictSame(await completeInBash('link', 'example.com', '--on-error', ''), ['image'])
  t.strictSame(await completeInBash('shot', 'example.com', '--full-page-max-h'), ['--full-page-max-height'])
  t.strictSame(await completeInBash('shot', '--no-full-page-full'), ['--no-full-page-full-width'])
  t.strictSame(await completeInBash('shot', '--format', 'p'), ['png', 'pdf'])
  t.strictSame(await completeInBash('shot', '--format', '=', 'w'), ['webp', 'webm'], 'bash splits --format=w')
  t.strictSame(await completeInBash('shot', '--device', 'iphone_15_pro_l'), ['iphone_15_pro_landscape'])
  t.strictSame(await completeInBash('keys', 'create', 'ci', '--scopes', 'usage'), ['usage:read'])
  t.strictSame(await completeInBash('shot', '--viewport-width', ''), [], 'nothing for a number')
  t.strictSame(await completeInBash('list', '--full'), [], 'no flags of another command')
})

const zsh = process.env.TINTYPE_TEST_ZSH ?? 'zsh'
t.test('zsh completes commands, flags and values', { skip: isMissing(zsh) }, async (t) => {
  const setup = [
    'PS1= ; autoload -Uz compinit; compinit -u -D',
    'source ./tintype.zsh',
    // Completes as the tab key does, and writes the command line to a file.
    'probe() { zle complete-word; print -r -- "$BUFFER" > ./line }; zle -N probe; bindkey "^T" probe',
  ]
  const folder = t.testdir({ 'tintype.zsh': await scriptFor('zsh'), setup: `${setup.join('\n')}\n` })
  // Completion works only in the line editor, which needs a terminal.
  const program = `
    zmodload zsh/zpty || exit 9
    zpty -b shell ${zsh} -f -i
    zpty -w shell 'source ./setup'
    zpty -n -w shell "$1"$'\\x14'
    for attempt in {1..100}; do [[ -s ./line ]] && break; zpty -r -t shell ignored; sleep 0.1; done
    zpty -d shell; cat ./line; rm -f ./line`
  const complete = async (line: string): Promise<string> => {
    const options = { cwd: folder, timeout: 20_000, env: { PATH: process.env.PATH ?? '', HOME: folder, TERM: 'xterm' } }
    return (await run(zsh, ['-f', '-c', program, 'zsh', line], options)).stdout
  }
  t.equal(await complete('tintype sho'), 'tintype shot \n')
  t.equal(await complete('tintype keys cre'), 'tintype keys create \n')
  t.equal(await complete('tintype keys rot'), 'tintype keys rotate\n', 'two commands begin so')
  t.equal(await complete('tintype keys rotate-'), 'tintype keys rotate-link-secret \n')
  t.equal(await complete('tintype link a.example --on-error i'), 'tintype link a.example --on-error image \n')
  t.equal(await complete('tintype shot --full-page-max-h'), 'tintype shot --full-page-max-height=\n')
  t.equal(await complete('tintype shot --format j'), 'tintype shot --format jpeg \n')
  t.equal(await complete('tintype shot example.com --viewport-h'), 'tintype shot example.com --viewport-h\n', 'two flags begin so')
  t.equal(await complete('tintype keys create ci --scopes usage'), 'tintype keys create ci --scopes usage:read \n')
})

const fish = process.env.TINTYPE_TEST_FISH ?? 'fish'
t.test('fish completes commands, flags and values', { skip: isMissing(fish) }, async (t) => {
  const script = path.join(t.testdir({ 'tintype.fish': await scriptFor('fish') }), 'tintype.fish')
  const completeInFish = async (line: string): Promise<string[]> => {
    const { stdout } = await run(fish, ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', script, line])
    return stdout.split('\n').flatMap((text) => text.split('\t')[0] || [])
  }
  t.strictSame(await completeInFish('tintype sh'), ['shot'])
  t.strictSame(await completeInFish('tintype keys l'), ['link-secret', 'list'])
  t.strictSame(await completeInFish('tintype shot a.example --full-page-max-h'), ['--full-page-max-height'])
  t.strictSame(await completeInFish('tintype shot --format p'), ['pdf', 'png'])
  t.strictSame(await completeInFish('tintype list --full'), [])
})

t.test('fish offered --profile twice after config set', async (t) => {
  const script = await scriptFor('fish')
  const conditions = script.split('\n').flatMap((line) => (line.includes(' -l profile ') ? (/-n '([^']*)'/.exec(line)?.[1] ?? []) : []))
  t.strictSame(conditions, ['not __tintype_words 1; and not __tintype_begins config set', '__tintype_begins config set'])
})

t.test('the script for fish offers every command and quotes its texts', async (t) => {
  const script = await scriptFor('fish')
  for (const { name } of commands) t.match(script, `-a ${name.split(' ').at(-1)}`)
  const lines = script.split('\n').filter((line) => line.startsWith('complete'))
  assertEvery(t, lines, (line) => line.replaceAll("\\'", '').split("'").length % 2 === 1)
})
