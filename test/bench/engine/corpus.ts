// The pages that speed is measured on: chapters of the Debian Administrator's Handbook, a book that no one here wrote, in four scripts. The same
// hundred in the cluster (docs.sites.svc.cluster.local) and on loopback.

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

/** Paths of the hundred pages, the languages in turns, so that any first part of the list has them all. */
export const CORPUS_PATHS: readonly string[] = CHAPTERS.flatMap((chapter) => LANGUAGES.map((language) => `/${language}/${chapter}.html`))

/** The pages as they are in the local cluster. */
export const CLUSTER_CORPUS: readonly string[] = CORPUS_PATHS.map((path) => `http://docs.sites.svc.cluster.local${path}`)
