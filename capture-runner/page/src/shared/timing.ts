/** Times of the navigation that loaded the document. */
export const navigationTiming = (): PerformanceNavigationTiming | undefined =>
  performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming | undefined
