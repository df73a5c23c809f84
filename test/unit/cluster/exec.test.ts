import t from 'tap'
import { CommandError, run, succeeds } from '../../cluster/host/exec.ts'

t.test('run resolves to the output of the program', async (t) => {
  t.equal(await run('sh', ['-c', 'cat; echo "$A"; echo aside >&2'], { input: 'in\n', environment: { A: 'set' } }), 'in\nset\n')
})

t.test('run rejects with name, exit code and last output of a failed program', async (t) => {
  const error = await run('sh', ['-c', 'echo first; echo last >&2; exit 3']).catch((error: unknown) => error)
  t.type(error, CommandError)
  t.equal((error as CommandError).message, 'sh exited with code 3: last')
  t.match((error as CommandError).output, 'first')
})

t.test('run rejects when the program does not exist', async (t) => {
  await t.rejects(run('no-such-program', []), /no-such-program did not start/)
})

t.test('run kills a program that takes too long', async (t) => {
  await t.rejects(run('sleep', ['600'], { timeoutMilliseconds: 20 }), /killed by SIGTERM/)
})

t.test('run accepts a program that does not read its input', async (t) => {
  t.equal(await run('true', [], { input: 'x'.repeat(1_000_000) }), '')
})

t.test('run reports each line of both streams', async (t) => {
  const lines: string[] = []
  await run('sh', ['-c', 'printf "a\\nb"; printf "\\nc\\n"; echo d >&2'], { onLine: (line) => lines.push(line) })
  t.strictSame(lines.sort(), ['a', 'b', 'c', 'd'])
})

t.test('succeeds is true only for a program that exits with 0', async (t) => {
  t.equal(await succeeds('true', []), true)
  t.equal(await succeeds('false', []), false)
  t.equal(await succeeds('no-such-program', []), false)
})
