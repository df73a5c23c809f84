import t from 'tap'
import { CommandError, run, succeeds } from '../../cluster/host/exec.ts'

t.test('run resolves to what the program printed', async (t) => {
  t.equal(await run('sh', ['-c', 'cat; echo "$A"; echo aside >&2'], { input: 'in\n', environment: { A: 'set' } }), 'in\nset\n')
})

t.test('run rejects with name, code and last words of a program that fails', async (t) => {
  const error = await run('sh', ['-c', 'echo first; echo last >&2; exit 3']).catch((error: unknown) => error)
  t.type(error, CommandError)
  t.equal((error as CommandError).message, 'sh ended with code 3: last')
  t.match((error as CommandError).output, 'first')
})

t.test('run rejects when there is no such program', async (t) => {
  await t.rejects(run('no-such-program', []), /no-such-program could not be started/)
})

t.test('run ends a program that takes too long', async (t) => {
  await t.rejects(run('sleep', ['600'], { timeoutMilliseconds: 20 }), /ended by SIGTERM/)
})

t.test('run bears a program that does not read its input', async (t) => {
  t.equal(await run('true', [], { input: 'x'.repeat(1_000_000) }), '')
})

t.test('run tells each line of both streams', async (t) => {
  const lines: string[] = []
  await run('sh', ['-c', 'printf "a\\nb"; printf "\\nc\\n"; echo d >&2'], { onLine: (line) => lines.push(line) })
  t.strictSame(lines.sort(), ['a', 'b', 'c', 'd'])
})

t.test('succeeds tells whether a program ends well', async (t) => {
  t.equal(await succeeds('true', []), true)
  t.equal(await succeeds('false', []), false)
  t.equal(await succeeds('no-such-program', []), false)
})
