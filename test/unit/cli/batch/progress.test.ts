import t from 'tap'
import { Progress } from '../../../../api-gateway/cli/src/batch/progress.ts'
import { anOutput } from '../fake-world.ts'

const done = { url: 'https://a.example', file: 'a.png', attempt: 1, status: 'done' as const }
const failed = {
  url: 'https://b.example/\u{1b}[2J',
  file: 'b.png',
  attempt: 1,
  status: 'failed' as const,
  error: 'DNS_FAILED: no such host',
}

t.test('Progress prints a line for each URL where there is no terminal', async (t) => {
  const output = anOutput()
  const progress = new Progress(output, { total: 12, done: 3 })
  progress.end(done, () => output.write('a.png\n'))
  progress.end(failed, () => {})
  progress.stop()
  t.equal(output.text, 'a.png\n 4/12 done   https://a.example\n 5/12 failed https://b.example/\u{fffd}[2J: DNS_FAILED: no such host\n')
  t.equal(progress.failed, 1)
  t.equal(progress.completed, 4)
})

t.test('Progress draws a bar on a terminal, and clears it before other lines', async (t) => {
  const output = anOutput({ isTerminal: true, columns: 60 })
  const progress = new Progress(output, { total: 4, done: 1 })
  progress.end(done, () => output.write('a.png\n'))
  progress.stop()
  t.match(output.text, '\r\u{1b}[2Ka.png\n\r\u{1b}[2K[============            ] 2/4 https://a.example')
  t.ok(output.text.endsWith('\r\u{1b}[2K'))
  for (const line of output.text.split(/[\r\n]/)) t.ok(line.replace('\u{1b}[2K', '').length < 60)
})
