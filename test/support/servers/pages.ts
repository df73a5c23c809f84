/** The Service of test/sites in the cluster. The local RunnerPool may reach it, but the host cannot. */
export const SITES = 'http://pages.sites.svc.cluster.local'

/** URL of a page of test/sites. */
export const page = (path: string): string => SITES + path
