import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { toId } from '../../../crds/src/identifiers/names.ts'
import { type CliOptions, installCli } from '../../clients/cli-package.ts'
import { ensureRuntimes } from '../../clients/runtimes.ts'
import { startHttpsReceiver } from '../../support/servers/https-receiver.ts'
import { complete, fail } from '../api-gateway/runner-role.ts'
import { startWorld } from '../api-gateway/world.ts'

// The command line client as npm would publish it, installed into an empty project, against a real gateway, API server and store. The test ends the
// captures itself, a few at a time.

const [world, cli, runtimes] = await Promise.all([startWorld(), installCli(), ensureRuntimes()])
const [node20] = runtimes['Node.js 20']
const PICTURE = Buffer.from('bytes of a picture')
const EVERY_MILLISECONDS = 200
const AT_A_TIME = 3

let isEnding = true
async function endCaptures(): Promise<void> {
  while (isEnding) {
    const { items } = await world.screenshots.list({ limit: 500 })
    const pending = items.filter(({ status }) => status?.phase === 'Pending')
    for (const { metadata, spec } of pending.slice(0, AT_A_TIME)) {
      const id = toId(metadata.name)
      const end = spec.url?.includes('broken.example')
        ? fail(id, { code: 'DNS_FAILED', message: 'the host name does not resolve' }, world)
        : complete(id, PICTURE, world)
      await end.catch(() => {})
    }
    await new Promise((resolve) => setTimeout(resolve, EVERY_MILLISECONDS))
  }
}
const ending = endCaptures()
t.teardown(async () => {
  isEnding = false
  await ending
  await world.stop()
  await cli.remove()
})

await world.createAccount('acme')
const key = await world.createKey({ accountName: 'acme' })
const gateway = await world.startGateway()
const environment = { TINTYPE_URL: gateway.url, TINTYPE_API_KEY: key }
const tintype = (args: readonly string[], options: CliOptions = {}) =>
  cli.run(args, { ...options, environment: { ...environment, ...options.environment } })
const textOf = async (args: readonly string[], options?: CliOptions): Promise<string> => {
  const { code, stdout, stderr } = await tintype(args, options)
  if (code !== 0) throw new Error(`tintype ${args.join(' ')} ended with ${code}: ${stderr}`)
  return stdout.toString()
}
const usedBy = async (account: string): Promise<number | undefined> => (await world.usages.get(account)).status?.used
const makeFolder = async (name: string): Promise<string> => {
  const folder = path.join(cli.directory, name)
  await mkdir(folder)
  return folder
}
const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '')

t.test('the package has its program, its license and nothing else', async (t) => {
  t.strictSame(cli.files.sort(), ['README.md', 'dist/LICENSE', 'dist/tintype.js', 'package.json', 'tintype.js'])
  t.ok(((await stat(cli.program)).mode & 0o111) !== 0, 'the program is executable')
  t.match(await textOf(['version']), /^tintype \d+\.\d+\.\d+ \(API \d+\.\d+\.\d+\)\n$/)
})

t.test('the program works in the oldest Node.js that it supports', async (t) => {
  const { code, stdout, stderr } = await tintype(['shot', 'example.com', '-o', '-', '--no-full-page'], { node: node20 })
  t.equal(code, 0, stderr)
  t.strictSame(stdout, PICTURE)
})

t.test('the package has a plugin for kubectl', async (t) => {
  const without = { TINTYPE_URL: '', TINTYPE_API_KEY: '', PATH: '/nonexistent' }
  const { code, stderr } = await tintype(['usage'], { name: 'kubectl-tintype', environment: without })
  t.match({ code, stderr }, { code: 3, stderr: /kubectl is not installed/ })
  t.equal((await tintype(['usage'], { name: 'kubectl-tintype' })).code, 0, 'settings come first')
})

t.test('doctor finds nothing wrong with a service that works', async (t) => {
  const before = await usedBy('acme')
  const { code, stdout } = await tintype(['doctor'])
  t.equal(code, 0, stdout.toString())
  for (const check of ['url', 'connection', 'version', 'database', 'storage', 'key', 'quota', 'read', 'write']) {
    t.match(stdout.toString(), new RegExp(`^ok +${check} `, 'm'))
  }
  t.equal(await usedBy('acme'), before, 'and creates nothing')
})

t.test('doctor names a certificate that is not trusted, and accepts it with its CA', async (t) => {
  const directory = await makeFolder('certificates')
  const server = await startHttpsReceiver({ directory })
  t.teardown(() => server.close())
  for (const node of [node20, process.execPath]) {
    const untrusted = await tintype(['doctor'], { node, environment: { TINTYPE_URL: server.url } })
    t.equal(untrusted.code, 1)
    t.match(
      untrusted.stdout.toString(),
      /^problem +connection the TLS certificate of 127\.0\.0\.1:\d+ is not trusted .*NODE_EXTRA_CA_CERTS/m,
    )
    const authority = path.join(directory, 'authority.pem')
    await writeFile(authority, server.ca)
    const trusted = await tintype(['doctor'], { node, environment: { TINTYPE_URL: server.url, NODE_EXTRA_CA_CERTS: authority } })
    t.match(trusted.stdout.toString(), /^problem +connection .* responds, but is no Tintype/m)
  }
})

t.test('shot writes the picture to a file, and prints the name of the file', async (t) => {
  const folder = await makeFolder('one')
  const { code, stdout, stderr } = await tintype(['shot', 'https://example.com/docs/', '--no-full-page'], { directory: folder })
  t.equal(code, 0, stderr)
  t.equal(stdout.toString(), 'example.com-docs.png\n')
  t.strictSame(await readFile(path.join(folder, 'example.com-docs.png')), PICTURE)
  t.strictSame(await readdir(folder), ['example.com-docs.png'], 'no temporary file remains')
})

t.test('shot --async prints the id, and watch follows it to the end', async (t) => {
  const id = (await textOf(['shot', 'example.com', '--async'])).trim()
  t.match(id, /^scr_/)
  t.match(await textOf(['watch', id]), new RegExp(`${id} completed +https://example.com 4 x 3 png, 18 bytes`))
  t.match(await textOf(['get', id]), /^status +completed$/m)
  t.match(await textOf(['list', '--limit', '1']), new RegExp(`^ID .*\n${id} `))
  t.equal(
    lines(await textOf(['list', '--json', '--status', 'completed', '--status', 'failed'])).every((line) => JSON.parse(line).id),
    true,
  )
  t.equal(await textOf(['delete', id]), `deleted ${id}\n`)
  const gone = await tintype(['get', id])
  t.equal(gone.code, 1)
  t.equal(lines(gone.stderr).length, 1, gone.stderr)
})

t.test('keys are created, listed, rotated and deleted', async (t) => {
  const value = (await textOf(['keys', 'create', 'ci', '--scopes', 'screenshots:read', '--scopes', 'usage:read'])).trim()
  const listed = lines(await textOf(['keys', 'list', '--json'])).map((line) => JSON.parse(line))
  const { id, scopes } = listed.find(({ name }) => name === 'ci')
  t.strictSame(scopes, ['screenshots:read', 'usage:read'])
  t.match(await textOf(['usage'], { environment: { TINTYPE_API_KEY: value } }), /^used +\d+ of \d+ units/m)
  const rotated = (await textOf(['keys', 'rotate', id, '--overlap-hours', '0'])).trim()
  t.not(rotated, value)
  t.equal((await tintype(['usage'], { environment: { TINTYPE_API_KEY: rotated } })).code, 0)
  t.equal((await tintype(['keys', 'delete', id])).code, 0)
  t.notMatch(await textOf(['keys', 'list']), new RegExp(id))
})

const COUNT = 20
const list = Array.from({ length: COUNT }, (_, index) => `https://example.com/page/${index + 1}`).join('\n')

for (const [signal, node] of [
  ['SIGINT', node20],
  ['SIGKILL', process.execPath],
] as const) {
  t.test(`a batch from standard input that ends by ${signal} continues, and captures and charges each URL once`, async (t) => {
    const account = `batch-${signal.toLowerCase()}`
    await world.createAccount(account)
    const own = { TINTYPE_API_KEY: await world.createKey({ accountName: account }) }
    const folder = await makeFolder(account)
    const command = ['shot', '--urls', '-', '-o', folder, '--parallel', '6']
    const interrupt = (stdout: string) => (lines(stdout).length >= 5 ? signal : undefined)
    const first = await tintype(command, { environment: own, input: list, node, onOutput: interrupt })
    t.equal(first.code, signal === 'SIGINT' ? 130 : null, first.stderr)
    const before = (await readdir(folder)).filter((name) => name.endsWith('.png'))
    t.ok(before.length >= 5 && before.length < COUNT, `${before.length} files before the interruption`)
    if (signal === 'SIGINT') t.match(first.stderr, /of 20 pages are done\. Repeat the command to continue\./)
    const second = await tintype(command, { environment: own, input: list, node })
    t.equal(second.code, 0, second.stderr)
    t.match(second.stderr, /20 of 20 pages are done\./)
    const after = (await readdir(folder)).filter((name) => !name.endsWith('.part'))
    t.equal(after.length, COUNT, 'one file for each URL, and no state file')
    t.equal(await usedBy(account), COUNT, 'one unit for each URL')
    const { items } = await world.screenshots.list()
    t.equal(items.filter(({ spec }) => spec.accountName === account).length, COUNT, 'one screenshot for each URL')
  })
}

t.test('an interrupted batch whose list is a file as standard input ends with a sentence, not with a stack trace', async (t) => {
  const folder = await makeFolder('interrupted-file')
  const inputFile = path.join(folder, 'list.txt')
  await writeFile(inputFile, list)
  const onOutput = (stdout: string) => (lines(stdout).length >= 2 ? ('SIGINT' as const) : undefined)
  for (const node of [node20, process.execPath]) {
    const { code, stderr } = await tintype(['shot', '--urls', '-', '-o', folder, '--restart'], { inputFile, node, onOutput })
    t.equal(code, 130)
    t.match(stderr, /\n\d+ of 20 pages are done\. Repeat the command to continue\.\ntintype: interrupted\n$/)
    t.notMatch(stderr, /node:/)
  }
})

t.test('a batch with failures names them, and the next run captures only those', async (t) => {
  await world.createAccount('mixed')
  const own = { TINTYPE_API_KEY: await world.createKey({ accountName: 'mixed' }) }
  const folder = await makeFolder('mixed')
  const command = ['shot', 'example.com', 'broken.example', 'http://10.0.0.1/', '-o', folder, '--name', '{n}-{host}.{format}']
  const first = await tintype(command, { environment: own })
  t.equal(first.code, 1, first.stderr)
  t.match(first.stderr, /failed https:\/\/broken\.example: DNS_FAILED/)
  t.match(first.stderr, /failed http:\/\/10\.0\.0\.1\/: URL_NOT_ALLOWED/)
  const second = await tintype(command, { environment: own })
  t.match(second.stderr, /Continuing: 1 of 3 pages are done\./)
  t.strictSame((await readdir(folder)).sort(), ['.tintype-batch.json', '1-example.com.png'])
  const { items } = await world.screenshots.list()
  t.equal(items.filter(({ spec }) => spec.accountName === 'mixed').length, 3, 'one success and two failures')
  const other = await tintype([...command, '--full-page'], { environment: own })
  t.match(other, { code: 2, stderr: /belongs to a batch with other options/ })
})
