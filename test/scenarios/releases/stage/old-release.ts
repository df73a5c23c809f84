/**
 * A released version of Tintype: its chart, and images of its programs. The programs are bundled from the sources of the version and added
 * to the images of today's cluster, so that the layers below (Node, the browser) are the same.
 */
import { rmSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { run } from '../../../cluster/host/exec.ts'
import { repository } from '../../../cluster/host/state.ts'
import { loadImage } from '../../../cluster/images/load.ts'
import { imageReference } from '../../../cluster/images/plan.ts'
import { buildah } from '../../../cluster/images/store.ts'

const PROGRAMS = ['operator', 'api-gateway', 'capture-runner']
const WORKSPACES = ['crds', ...PROGRAMS]

/** Files of one version. */
export interface Sources {
  directory: string
  chart: string
}

/** Extracts the files of a commit from the Git history. They are removed when this process ends. */
export async function checkOut(version: string): Promise<Sources> {
  const directory = await mkdtemp(path.join(tmpdir(), 'tintype-release-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const archive = path.join(directory, 'sources.tar')
  await run('git', ['archive', '--output', archive, version], { directory: repository })
  await run('tar', ['-xf', archive, '-C', directory])
  return { directory, chart: path.join(directory, 'charts/tintype') }
}

/** Bundles programs of a version. Resolves to the directory of the version. */
export async function bundleSources({ directory }: Sources, programs: readonly string[]): Promise<string> {
  await linkPackages(directory)
  // Without preimages, which would replace the linked packages.
  await run('npm', ['run', '--silent', '--ignore-scripts', 'images', '--', '--bundle', '--only', programs.join()], { directory })
  return directory
}

/** Builds and loads the images of a version, by default of all its programs. `today` contains the tags of the images in the cluster. */
export async function buildImages(sources: Sources, tag: string, today: Record<string, string>, programs = PROGRAMS): Promise<void> {
  const directory = await bundleSources(sources, programs)
  for (const program of programs) {
    const context = path.join(directory, program)
    await writeFile(path.join(context, 'Dockerfile.old'), dockerfileOf(imageReference(program, today[program] ?? '')))
    const reference = imageReference(program, tag)
    await buildah([
      'bud',
      '--isolation',
      'chroot',
      '--pull-never',
      '--file',
      path.join(context, 'Dockerfile.old'),
      '--tag',
      reference,
      context,
    ])
    await loadImage(program, reference)
  }
}

const dockerfileOf = (base: string): string => `FROM ${base}
USER 0
RUN rm -f /app/*.mjs
COPY dist/app/ /app/
USER 10001:10001
`

/** Packages come from this checkout, except for the project's own packages, which come from the version. */
async function linkPackages(directory: string): Promise<void> {
  const [from, to] = [repository, directory].map((root) => path.join(root, 'node_modules')) as [string, string]
  await mkdir(path.join(to, '@tintype'), { recursive: true })
  for (const name of await readdir(from)) if (name !== '@tintype') await symlink(path.join(from, name), path.join(to, name))
  for (const workspace of WORKSPACES) {
    await symlink(path.join(directory, workspace), path.join(to, '@tintype', workspace))
    const nested = path.join(repository, workspace, 'node_modules')
    await cp(nested, path.join(directory, workspace, 'node_modules'), { recursive: true, verbatimSymlinks: true }).catch(() => {})
  }
}
