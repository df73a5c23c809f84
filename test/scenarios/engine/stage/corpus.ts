// The pages for measuring speed: chapters of the Debian Administrator's Handbook in four scripts. The same hundred pages are served in the
// cluster (docs.sites.svc.cluster.local) and on loopback.

const LANGUAGES = ['en-US', 'fr-FR', 'ru-RU', 'fa-IR']

const CHAPTERS = [
  'index',
  'preface',
  'the-debian-project',
  'case-study',
  'existing-setup',
  'installation',
  'packaging-system',
  'apt',
  'solving-problems',
  'basic-configuration',
  'unix-services',
  'network-infrastructure',
  'network-services',
  'advanced-administration',
  'workstation',
  'security',
  'debian-packaging',
  'conclusion',
  'derivative-distributions',
  'short-remedial-course',
  'sect.apt-get',
  'sect.ipv6',
  'sect.selinux',
  'sect.virtualization',
  'sect.filesystem-hierarchy',
]

/** Paths of the hundred pages. Languages alternate, so that the first pages contain all of them. */
export const CORPUS_PATHS: readonly string[] = CHAPTERS.flatMap((chapter) => LANGUAGES.map((language) => `/${language}/${chapter}.html`))

/** URLs of the pages in the local cluster. */
export const CLUSTER_CORPUS: readonly string[] = CORPUS_PATHS.map((path) => `http://docs.sites.svc.cluster.local${path}`)
