import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { installCli } from '../clients/cli-package.ts'
import { createClusterAccount } from '../support/cluster/accounts.ts'
import { call } from '../support/cluster/api-client.ts'
import { cluster } from '../support/cluster/environment.ts'
import { NAMESPACE } from '../support/cluster/tested-release.ts'
import { eventually } from '../support/eventually.ts'
import { decode, isNear } from '../support/picture.ts'
import { page } from '../support/servers/pages.ts'

// The packed command line client against the deployed service, whose runners capture real pages.

t.setTimeout(600_000)
const cli = await installCli()
t.teardown(() => cli.remove())
const environment = { TINTYPE_URL: cluster.url, TINTYPE_API_KEY: cluster.apiKey }
const small = ['--viewport-width', '400', '--viewport-height', '300']
const RED = [255, 0, 0, 255]

t.test('doctor finds nothing wrong with the deployed service', async (t) => {
  const { code, stdout } = await cli.run(['doctor'], { environment })
  t.equal(code, 0, stdout.toString())
})

t.test('shot writes a real picture to a file', async (t) => {
  const file = path.join(cli.directory, 'page.webp')
  const { code, stderr } = await cli.run(['shot', page('/quadrants'), ...small, '-o', file], { environment })
  t.equal(code, 0, stderr)
  const picture = await decode(await readFile(file))
  t.strictSame([picture.format, picture.width, picture.height], ['webp', 400, 300])
  t.ok(isNear(picture.at(10, 10), RED))
})

t.test('kubectl tintype finds the service and its API key through kubectl', async (t) => {
  // kubectl runs the plugin that it finds in PATH. The environment has no URL and no API key.
  const { KUBECONFIG } = cluster.shell
  const env = { PATH: `${path.dirname(cli.program)}:${cluster.shell.PATH}`, HOME: cli.directory, ...(KUBECONFIG && { KUBECONFIG }) }
  const kubectl = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)('kubectl', ['tintype', ...args], { env, cwd: cli.directory })).stdout
  t.equal(await kubectl('shot', page('/quadrants'), ...small, '-o', 'plugin.png'), 'plugin.png\n')
  const picture = await decode(await readFile(path.join(cli.directory, 'plugin.png')))
  t.strictSame([picture.format, picture.width, picture.height], ['png', 400, 300])
  t.ok(isNear(picture.at(10, 10), RED))
  t.match(await kubectl('doctor', '-n', NAMESPACE), /^ok +url +http:\/\/127\.0\.0\.1:\d+ \(kubectl port-forward\)$/m)
})

t.test('link prints a link whose response is the picture, with the secret of the API key that the service provides', async (t) => {
  const { key } = await createClusterAccount(t, 'cli-link', { plan: 'scale' })
  const own = { TINTYPE_URL: cluster.url, TINTYPE_API_KEY: key }
  const textOf = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await cli.run(args, { environment: own })
    t.equal(code, 0, stderr)
    return stdout.toString().trim()
  }
  const link = await textOf('link', page('/quadrants'), '--expires', '7d', '--format', 'webp', ...small)
  const response = await fetch(link)
  t.equal(response.status, 200)
  const picture = await decode(Buffer.from(await response.arrayBuffer()))
  t.strictSame([picture.format, picture.width, picture.height], ['webp', 400, 300])
  t.ok(isNear(picture.at(10, 10), RED))

  const { key: id, link_secret } = JSON.parse(await textOf('keys', 'link-secret', '--json')) as { key: string; link_secret: string }
  t.match(link, `key=${id}&`)
  t.equal(await textOf('keys', 'link-secret', id), link_secret, 'the secret stays the same')
  const rotated = await textOf('keys', 'rotate-link-secret', id, '--overlap-hours', '0')
  t.not(rotated, link_secret)
  await eventually('links of the old secret end', async () => {
    const statuses = await Promise.all([1, 2, 3, 4].map(async () => (await fetch(link)).status))
    return statuses.every((status) => status === 403)
  })
  t.equal((await fetch(await textOf('link', page('/quadrants'), '--format', 'webp', ...small))).status, 200)
})

t.test('shot ends with 1 and the reason when a capture fails', async (t) => {
  const { code, stderr } = await cli.run(
    ['shot', page('/quadrants'), '--selector', '#nothing', '--error-on-selector-not-found', '--timeout', '2000'],
    {
      environment,
    },
  )
  t.equal(code, 1)
  t.match(stderr, /^tintype: the capture failed with SELECTOR_NOT_FOUND: /)
})

t.test('20 URLs from standard input, interrupted and resumed, yield 20 files and 20 units', async (t) => {
  const COUNT = 20
  const account = await createClusterAccount(t, 'cli', { plan: 'scale' })
  const own = { TINTYPE_URL: cluster.url, TINTYPE_API_KEY: account.key }
  const folder = path.join(cli.directory, 'batch')
  await mkdir(folder)
  const input = Array.from({ length: COUNT }, (_, index) => page(`/solid?color=3366${String(index + 10)}`)).join('\n')
  const command = ['shot', '--urls', '-', '-o', folder, '--parallel', '4', '--name', '{n}.{format}', ...small]
  const onOutput = (stdout: string) => (stdout.split('\n').length > 5 ? ('SIGINT' as const) : undefined)
  const first = await cli.run(command, { environment: own, input, onOutput })
  t.equal(first.code, 130, first.stderr)
  const before = (await readdir(folder)).filter((name) => name.endsWith('.png'))
  t.ok(before.length >= 5 && before.length < COUNT, `${before.length} files before the interruption`)
  const second = await cli.run(command, { environment: own, input })
  t.equal(second.code, 0, second.stderr)
  const names = Array.from({ length: COUNT }, (_, index) => `${String(index + 1).padStart(2, '0')}.png`)
  t.strictSame((await readdir(folder)).sort(), names)
  await eventually('20 units are charged', async () => {
    const { body } = await call<{ data: { count: number } }>('/api/v1/usage/current', { key: account.key })
    return body.data.count === COUNT
  })
  const list = await call<{ data: object[] }>('/api/v1/screenshots?limit=100', { key: account.key })
  t.equal(list.body.data.length, COUNT, 'one screenshot for each URL')
})
