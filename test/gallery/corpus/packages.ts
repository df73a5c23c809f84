import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { run } from '../../cluster/host/exec.ts'
import { cache } from '../../cluster/host/state.ts'

/** Directory of the corpus packages. It is outside the repository and can be deleted. */
export const corpusCache = path.join(cache, 'corpus')

const LISTS = path.join(import.meta.dirname, 'packages')
/** Sphinx's themes, as modules and as `html_theme`. */
const SPHINX_THEMES = ['alabaster', 'furo', 'sphinx_rtd_theme', 'pydata_sphinx_theme', 'sphinx_book_theme']
const MKDOCS_THEMES = ['mkdocs', 'readthedocs', 'material']
/** Text of the documentation sites: the READMEs of packages whose versions the lock file pins. */
const READMES = ['aos', 'chart.js', 'countup.js', 'katex', 'swiper', 'leaflet.markercluster']

/** Installs missing or outdated packages with the standard client of each package index. */
export async function installPackages(say: (line: string) => void): Promise<void> {
  await once('npm', ['package.json', 'package-lock.json'], say, installNpm)
  await once('pypi', ['requirements.txt', 'package-lock.json'], say, installPypi)
  await once('debian', ['debian.txt'], say, installDebian)
}

/** Runs one installation unless its inputs are unchanged. */
async function once(
  name: string,
  files: readonly string[],
  say: (line: string) => void,
  install: (home: string) => Promise<void>,
): Promise<void> {
  const home = path.join(corpusCache, name)
  const hash = createHash('sha256')
  for (const file of files) hash.update(await readFile(path.join(LISTS, file)))
  const [stamp, wanted] = [path.join(home, 'installed'), hash.digest('hex')]
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === wanted) return
  say(`installing packages of ${name}`)
  await mkdir(home, { recursive: true })
  await rm(stamp, { force: true })
  await install(home)
  await writeFile(stamp, wanted)
}

async function installNpm(home: string): Promise<void> {
  for (const file of ['package.json', 'package-lock.json']) await copyFile(path.join(LISTS, file), path.join(home, file))
  // Templates have outdated peer dependencies, which are not used here.
  await run('npm', ['ci', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'], { directory: home })
}

async function installPypi(home: string): Promise<void> {
  const [python, source, site] = ['venv/bin/python', 'source', 'site'].map((name) => path.join(home, name)) as [string, string, string]
  if (!existsSync(python)) await run('python3', ['-m', 'venv', path.join(home, 'venv')])
  const install = ['install', '--quiet', '--disable-pip-version-check', '--no-deps', '-r', path.join(LISTS, 'requirements.txt')]
  await run(python, ['-m', 'pip', ...install])
  await rm(site, { recursive: true, force: true })
  await writeSources(source)
  for (const theme of SPHINX_THEMES) {
    const settings = [`html_theme=${theme}`, 'extensions=myst_parser', 'project=Harbor'].flatMap((setting) => ['-D', setting])
    await run(python, ['-m', 'sphinx', '-q', '-b', 'html', '-C', ...settings, source, path.join(site, theme)])
  }
  for (const theme of MKDOCS_THEMES) {
    const config = path.join(home, `${theme}.yml`)
    const font = theme === 'material' ? '  font: false\n' : ''
    await writeFile(config, `site_name: Harbor\ndocs_dir: source\nuse_directory_urls: false\ntheme:\n  name: ${theme}\n${font}`)
    await run(python, ['-m', 'mkdocs', 'build', '--quiet', '-f', config, '-d', path.join(site, theme)])
  }
  await run(python, ['-m', 'pdoc', '-o', path.join(site, 'pdoc'), 'markdown2'])
}

async function writeSources(source: string): Promise<void> {
  await rm(source, { recursive: true, force: true })
  await mkdir(source, { recursive: true })
  for (const name of READMES)
    await writeFile(
      path.join(source, `${name.replaceAll('.', '-')}.md`),
      await readFile(path.join(corpusCache, 'npm/node_modules', name, 'README.md')),
    )
  const names = READMES.map((name) => name.replaceAll('.', '-'))
  const list = names.map((name) => `- [${name}](${name}.md)`).join('\n')
  const paragraphs = Array.from(
    { length: 12 },
    (_, index) => `## Chapter ${index + 1}\n\nThe harbor opens at six.\n\n\`\`\`python\nprint("boats", ${index})\n\`\`\`\n`,
  ).join('\n')
  await writeFile(path.join(source, 'index.md'), `# Harbor\n\n${list}\n\n${paragraphs}\n\`\`\`{toctree}\n${names.join('\n')}\n\`\`\`\n`)
}

async function installDebian(home: string): Promise<void> {
  const names = (await readFile(path.join(LISTS, 'debian.txt'), 'utf8')).split('\n').filter(Boolean)
  for (const file of await readdir(home)) if (file.endsWith('.deb')) await rm(path.join(home, file))
  await run('apt-get', ['download', ...names], { directory: home })
  await rm(path.join(home, 'root'), { recursive: true, force: true })
  for (const file of await readdir(home)) if (file.endsWith('.deb')) await run('dpkg-deb', ['-x', file, 'root'], { directory: home })
}
