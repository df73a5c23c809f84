import t from 'tap'
import { CommandError } from '../../cluster/host/exec.ts'
import { formatDuration, formatFailure, formatLine, runSteps, type Screen, StepError } from '../../cluster/host/steps.ts'

/** A screen that records its output. */
function aScreen(isTerminal: boolean): Screen & { text: () => string } {
  let text = ''
  const write = (part: string) => {
    text += part
    return true
  }
  return { write, isTerminal, columns: 120, text: () => text }
}

const durations: [number, string][] = [
  [0, '0.0 s'],
  [1_249, '1.2 s'],
  [59_940, '59.9 s'],
  [59_960, '1 min 00 s'],
  [125_000, '2 min 05 s'],
]
for (const [milliseconds, text] of durations) {
  t.test(`formatDuration returns ${text}`, async (t) => t.equal(formatDuration(milliseconds), text))
}

t.test('formatLine aligns the times of all lines', async (t) => {
  const lines = ['', 'already up', 'started, https://127.0.0.1:16443 on this machine'].map((detail) =>
    formatLine('[ 3/14]', 'API server', detail, 1_200),
  )
  t.equal(new Set(lines.map((line) => line.length)).size, 1)
  t.match(lines[1], /^\[ 3\/14\] API server +already up +1\.2 s$/)
})

for (const columns of [40, 80, 200]) {
  t.test(`formatLine is shorter than a screen of ${columns} columns, so that it does not wrap`, async (t) => {
    const line = formatLine('[ 3/14]', 'API server', 'x'.repeat(300), 75_000, columns)
    t.ok(line.length < columns)
    t.match(line, /….* 1 min 15 s$/)
  })
}

t.test('runSteps prints one line per step into a pipe, in order', async (t) => {
  const screen = aScreen(false)
  const steps = ['first', 'second'].map((name) => ({ name, run: async () => `${name} done` }))
  await runSteps(steps, screen)
  const lines = screen.text().trimEnd().split('\n')
  t.equal(lines.length, 2)
  t.match(lines[0], /^\[1\/2\] first +first done/)
  t.match(lines[1], /^\[2\/2\] second +second done/)
})

t.test('runSteps redraws the line on a terminal and prints one line break', async (t) => {
  const screen = aScreen(true)
  await runSteps([{ name: 'only', run: async () => undefined }], screen)
  t.equal(screen.text().split('\n').length, 2)
  t.ok(screen.text().includes('\r\u001b[2K[1/1] only'))
})

t.test('runSteps marks the failed step, skips the following ones and throws the error', async (t) => {
  const screen = aScreen(false)
  const failure = new Error('no disk')
  const ran: string[] = []
  const step = (name: string, error?: Error) => ({
    name,
    run: async () => {
      ran.push(name)
      if (error) throw error
      return undefined
    },
  })
  await t.rejects(runSteps([step('one'), step('two', failure), step('three')], screen), failure)
  t.strictSame(ran, ['one', 'two'])
  t.match(screen.text(), /\[2\/3\] two +failed/)
})

t.test('formatFailure shows cause, remedy, log and the last output of the program', async (t) => {
  const output = Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n')
  const cause = new Error('in between', { cause: new CommandError('go', 'exited with code 1', output) })
  const text = formatFailure(new StepError('programs could not be built', { remedy: 'install Go', log: '/tmp/log', cause }))
  t.match(text, /^✗ programs could not be built\n {2}Cause: in between\n {2}Cause: go exited with code 1: line 29\n/)
  t.match(text, /What to do: install Go\n {2}Log: \/tmp\/log$/)
  t.match(text, 'line 29')
  t.notMatch(text, 'line 17\n')
})

t.test('formatFailure accepts any thrown value', async (t) => {
  t.equal(formatFailure(new Error('odd')), '✗ odd')
  t.equal(formatFailure('text'), '✗ text')
})
