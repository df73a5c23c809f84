import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { installCli } from '../clients/cli-package.ts'
import { cluster } from '../support/cluster/environment.ts'
import { NAMESPACE } from '../support/cluster/tested-release.ts'
import { decode, isNear } from '../support/picture.ts'
import { page } from '../support/servers/pages.ts'

// The packed command line client against the deployed service, whose runners capture real pages.

t.setTimeout(600_000)
const cli = await installCli()
t.teardown(() => cli.remove())
const small = ['--viewport-width', '400', '--viewport-height', '300']
const RED = [255, 0, 0, 255]

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
