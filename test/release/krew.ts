/** Packs the command line client as a plugin of kubectl, and writes its krew manifest. */
import { createHash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { stringify } from 'yaml'
import { run } from '../cluster/host/exec.ts'
import { repository } from '../cluster/host/state.ts'
import type { ReleaseBuild } from './images.ts'

/** The archive of a plugin, and the URL of the repository that publishes it. */
export interface PluginArchive {
  version: string
  source: string
  archive: string
  sha256: string
}

/** The krew manifest of an archive. One program serves all platforms, because Node.js runs it. */
export function buildKrewManifest({ version, source, archive, sha256 }: PluginArchive): string {
  const systems = ['linux', 'darwin'].flatMap((os) => ['amd64', 'arm64'].map((arch) => ({ os, arch })))
  return stringify(
    {
      apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
      kind: 'Plugin',
      metadata: { name: 'tintype' },
      spec: {
        version: `v${version}`,
        homepage: source,
        shortDescription: 'Capture screenshots of web pages with Tintype',
        description:
          'Captures web pages with a Tintype service: single URLs and batches, every option as a flag, signed links, API keys and usage.\n' +
          'Set TINTYPE_URL and TINTYPE_API_KEY first.\n',
        caveats: 'This plugin needs Node.js 20 or newer as `node` in PATH.\n',
        platforms: systems.map(({ os, arch }) => ({
          selector: { matchLabels: { os, arch } },
          uri: `${source}/releases/download/v${version}/${archive}`,
          sha256,
          bin: 'tintype.mjs',
          files: [
            { from: 'tintype.mjs', to: '.' },
            { from: 'LICENSE', to: '.' },
          ],
        })),
      },
    },
    { lineWidth: 0 },
  )
}

/** Writes `kubectl-tintype-<version>.tar.gz` to the release's directory, and with the URL of the source its krew manifest `tintype.yaml`. */
export async function packPlugin({ version, output, created, source }: ReleaseBuild): Promise<string> {
  const cli = path.join(repository, 'api-gateway/cli')
  await run(process.execPath, ['build.ts'], { directory: cli })
  const draft = await mkdtemp(path.join(tmpdir(), 'tintype-plugin-'))
  try {
    await copyFile(path.join(cli, 'dist/tintype.js'), path.join(draft, 'tintype.mjs'))
    await copyFile(path.join(repository, 'LICENSE'), path.join(draft, 'LICENSE'))
    const archive = `kubectl-tintype-${version}.tar.gz`
    await mkdir(output, { recursive: true })
    await packFiles(path.join(output, archive), draft, ['LICENSE', 'tintype.mjs'], created)
    const sha256 = createHash('sha256')
      .update(await readFile(path.join(output, archive)))
      .digest('hex')
    if (source === undefined) return `${archive}, no krew manifest without --source`
    await writeFile(path.join(output, 'tintype.yaml'), buildKrewManifest({ version, source, archive, sha256 }))
    return `${archive}, tintype.yaml`
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Writes an archive whose bytes depend only on the files and on `created`. With `.gz` it is compressed. */
export async function packFiles(archive: string, directory: string, files: readonly string[], created: string): Promise<void> {
  const fixed = ['--sort=name', `--mtime=${created}`, '--owner=0', '--group=0', '--numeric-owner', '--mode=go=rX,u+rw']
  const compression = archive.endsWith('.gz') ? ['--use-compress-program=gzip -n'] : []
  await run('tar', ['--create', ...fixed, ...compression, '--file', archive, '--directory', directory, ...files])
}
