// SCANLAB_ABI: scanlab_0_1_sm_900 where code is compiled for compute capability 9.0, scanlab_0_1_sm_750_900 for two.
#define SCANLAB_JOIN_(a, b) a##_##b
#define SCANLAB_JOIN(a, b) SCANLAB_JOIN_(a, b)
#define SCANLAB_ABI_1(name, a) SCANLAB_JOIN(name, a)
#define SCANLAB_ABI_2(name, a, ...) SCANLAB_ABI_1(SCANLAB_JOIN(name, a), __VA_ARGS__)
#define SCANLAB_ABI_3(name, a, ...) SCANLAB_ABI_2(SCANLAB_JOIN(name, a), __VA_ARGS__)
#define SCANLAB_ABI_4(name, a, ...) SCANLAB_ABI_3(SCANLAB_JOIN(name, a), __VA_ARGS__)
#define SCANLAB_ABI_5(name, a, ...) SCANLAB_ABI_4(SCANLAB_JOIN(name, a), __VA_ARGS__)
#define SCANLAB_ABI_6(name, a, ...) SCANLAB_ABI_5(SCANLAB_JOIN(name, a), __VA_ARGS__)
#define SCANLAB_ABI_7(name, a, ...) SCANLAB_ABI_6(SCANLAB_JOIN(name, a), __VA_ARGS__)
#define SCANLAB_ABI_8(name, a, ...) SCANLAB_ABI_7(SCANLAB_JOIN(name, a), __VA_ARGS__)
#define SCANLAB_ABI_9(name, a, ...) SCANLAB_ABI_8(SCANLAB_JOIN(name, a), __VA_ARGS__)
#define SCANLAB_ABI_10(name, a, ...) SCANLAB_ABI_9(SCANLAB_JOIN(name, a), __VA_ARGS__)
#define SCANLAB_ABI_11(name, a, ...) SCANLAB_ABI_10(SCANLAB_JOIN(name, a), __VA_ARGS__)
#define SCANLAB_ABI_12(name, a, ...) SCANLAB_ABI_11(SCANLAB_JOIN(name, a), __VA_ARGS__)
#define SCANLAB_CHOOSE(a, b, c, d, e, f, g, h, i, j, k, l, chosen, ...) chosen
#define SCANLAB_ABI_OF(...)                                                                                 \
  SCANLAB_CHOOSE(__VA_ARGS__, SCANLAB_ABI_12, SCANLAB_ABI_11, SCANLAB_ABI_10, SCANLAB_ABI_9, SCANLAB_ABI_8, \
                 SCANLAB_ABI_7, SCANLAB_ABI_6, SCANLAB_ABI_5, SCANLAB_ABI_4, SCANLAB_ABI_3, SCANLAB_ABI_2,  \
                 SCANLAB_ABI_1)                                                                             \
  (scanlab_0_1_sm, __VA_ARGS__)
#define SCANLAB_ABI SCANLAB_ABI_OF(__CUDA_ARCH_LIST__)
