import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { must } from '../../bench/engine/must.ts'
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
  await must('npm', ['ci', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'], { cwd: home })
}

async function installPypi(home: string): Promise<void> {
  const python = path.join(home, 'venv/bin/python')
  if (!existsSync(python)) await must('python3', ['-m', 'venv', path.join(home, 'venv')])
  await must(python, [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--no-deps',
    '-r',
    path.join(LISTS, 'requirements.txt'),
  ])
  await rm(path.join(home, 'site'), { recursive: true, force: true })
  const source = path.join(home, 'source')
  await writeSources(source)
  for (const theme of SPHINX_THEMES)
    await must(python, [
      '-m',
      'sphinx',
      '-q',
      '-b',
      'html',
      '-C',
      '-D',
      `html_theme=${theme}`,
      '-D',
      'extensions=myst_parser',
      '-D',
      'project=Harbor',
      source,
      path.join(home, 'site', theme),
    ])
  for (const theme of MKDOCS_THEMES) {
    const config = path.join(home, `${theme}.yml`)
    await writeFile(
      config,
      `site_name: Harbor\ndocs_dir: source\nuse_directory_urls: false\ntheme:\n  name: ${theme}\n${theme === 'material' ? '  font: false\n' : ''}`,
    )
    await must(python, ['-m', 'mkdocs', 'build', '--quiet', '-f', config, '-d', path.join(home, 'site', theme)])
  }
  await must(python, ['-m', 'pdoc', '-o', path.join(home, 'site/pdoc'), 'markdown2'])
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
  await must('apt-get', ['download', ...names], { cwd: home })
  await rm(path.join(home, 'root'), { recursive: true, force: true })
  for (const file of await readdir(home)) if (file.endsWith('.deb')) await must('dpkg-deb', ['-x', file, 'root'], { cwd: home })
}
