# Where `make install` puts each file. Included by the Makefile, which sets the variables.

CMAKE_DIR := $(LIBDIR)/cmake/Probity
PKGCONFIG_DIR := $(LIBDIR)/pkgconfig
# Headers are in a separate directory: other packages may have a Logger.h or FnTrace.h, too.
HEADER_DIR := $(INCLUDEDIR)/probity
MAN_PAGES := $(wildcard man/*.1 man/*.3 man/*.7)
# An installed tree may be moved, so its files refer to each other by relative paths.
way = $$(realpath -m -s --relative-to='$(1)' '$(2)')
SUBSTITUTE = sed -e 's|@VERSION@|$(VERSION)|g' -e 's|@SHARED@|$(SHARED)|g' -e 's|@SONAME@|$(SONAME)|g' \
    -e 's|@PRINT_SHARED@|$(PRINT_SHARED)|g' -e 's|@PRINT_SONAME@|$(PRINT_SONAME)|g' \
    -e 's|@FUNCTIONS_SHARED@|$(FUNCTIONS_SHARED)|g' -e 's|@FUNCTIONS_SONAME@|$(FUNCTIONS_SONAME)|g' \
    -e "s|@PREFIX@|$(call way,$(PKGCONFIG_DIR),$(PREFIX))|g" \
    -e "s|@LIBDIR@|$(call way,$(PREFIX),$(LIBDIR))|g" \
    -e "s|@HEADERDIR@|$(call way,$(PREFIX),$(HEADER_DIR))|g" \
    -e "s|@CMAKE_TO_LIBDIR@|$(call way,$(CMAKE_DIR),$(LIBDIR))|g" \
    -e "s|@CMAKE_TO_HEADERDIR@|$(call way,$(CMAKE_DIR),$(HEADER_DIR))|g"

# All files of an installation, for uninstall.
INSTALLED = $(BINDIR)/probity $(addprefix $(HEADER_DIR)/,$(notdir $(wildcard include/*.h))) \
    $(addprefix $(LIBDIR)/,libprobity.a $(SHARED) $(SONAME) libprobity.so pkgconfig/probity.pc pkgconfig/probity-dumps.pc) \
    $(addprefix $(LIBDIR)/,libprobity-print.a $(PRINT_SHARED) $(PRINT_SONAME) libprobity-print.so \
        pkgconfig/probity-print.pc) \
    $(addprefix $(LIBDIR)/,libprobity-functions.a $(FUNCTIONS_SHARED) $(FUNCTIONS_SONAME) \
        libprobity-functions.so pkgconfig/probity-functions.pc) \
    $(addprefix $(LIBDIR)/,$(CALLS_SHARED) $(CALLS_SONAME) libprobity-calls.so) \
    $(addprefix $(CMAKE_DIR)/,ProbityConfig.cmake ProbityConfigVersion.cmake) \
    $(foreach m,$(MAN_PAGES),$(MANDIR)/man$(subst .,,$(suffix $(m)))/$(notdir $(m))) \
    $(DATADIR)/bash-completion/completions/probity $(DATADIR)/zsh/site-functions/_probity \
    $(DATADIR)/fish/vendor_completions.d/probity.fish

install: lib tool ## Install under PREFIX (/usr/local) below DESTDIR
	install -d $(sort $(dir $(addprefix $(DESTDIR),$(INSTALLED))))
	install -m 755 $(TOOL) $(DESTDIR)$(BINDIR)/probity
	install -m 644 $(wildcard include/*.h) $(DESTDIR)$(HEADER_DIR)/
	install -m 644 $(STATIC_LIB) $(STATIC_PRINT) $(STATIC_FUNCTIONS) $(DESTDIR)$(LIBDIR)/
	install -m 755 $(SHARED_LIB) $(SHARED_PRINT) $(SHARED_FUNCTIONS) $(SHARED_CALLS) $(DESTDIR)$(LIBDIR)/
	ln -sf $(SHARED) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libprobity.so
	ln -sf $(PRINT_SHARED) $(DESTDIR)$(LIBDIR)/$(PRINT_SONAME)
	ln -sf $(PRINT_SONAME) $(DESTDIR)$(LIBDIR)/libprobity-print.so
	ln -sf $(FUNCTIONS_SHARED) $(DESTDIR)$(LIBDIR)/$(FUNCTIONS_SONAME)
	ln -sf $(FUNCTIONS_SONAME) $(DESTDIR)$(LIBDIR)/libprobity-functions.so
	ln -sf $(CALLS_SHARED) $(DESTDIR)$(LIBDIR)/$(CALLS_SONAME)
	ln -sf $(CALLS_SONAME) $(DESTDIR)$(LIBDIR)/libprobity-calls.so
	$(SUBSTITUTE) packaging/probity.pc.in > $(DESTDIR)$(PKGCONFIG_DIR)/probity.pc
	$(SUBSTITUTE) packaging/probity-dumps.pc.in > $(DESTDIR)$(PKGCONFIG_DIR)/probity-dumps.pc
	$(SUBSTITUTE) packaging/probity-print.pc.in > $(DESTDIR)$(PKGCONFIG_DIR)/probity-print.pc
	$(SUBSTITUTE) packaging/probity-functions.pc.in > $(DESTDIR)$(PKGCONFIG_DIR)/probity-functions.pc
	$(SUBSTITUTE) packaging/ProbityConfig.cmake.in > $(DESTDIR)$(CMAKE_DIR)/ProbityConfig.cmake
	$(SUBSTITUTE) packaging/ProbityConfigVersion.cmake.in \
	    > $(DESTDIR)$(CMAKE_DIR)/ProbityConfigVersion.cmake
	for page in $(MAN_PAGES); do \
	    install -m 644 $$page $(DESTDIR)$(MANDIR)/man$${page##*.}/ || exit 1; done
	install -m 644 completion/probity.bash $(DESTDIR)$(DATADIR)/bash-completion/completions/probity
	install -m 644 completion/_probity $(DESTDIR)$(DATADIR)/zsh/site-functions/_probity
	install -m 644 completion/probity.fish $(DESTDIR)$(DATADIR)/fish/vendor_completions.d/
	if [ -z '$(DESTDIR)' ] && [ "$$(id -u)" = 0 ] && command -v ldconfig > /dev/null; then ldconfig; fi

STRIP ?= strip
install-strip: install ## The same, without debugging information
	$(STRIP) $(DESTDIR)$(BINDIR)/probity
	$(STRIP) --strip-unneeded $(DESTDIR)$(LIBDIR)/$(SHARED) $(DESTDIR)$(LIBDIR)/$(PRINT_SHARED) \
	    $(DESTDIR)$(LIBDIR)/$(FUNCTIONS_SHARED) $(DESTDIR)$(LIBDIR)/$(CALLS_SHARED)
	$(STRIP) --strip-debug --enable-deterministic-archives $(DESTDIR)$(LIBDIR)/libprobity.a \
	    $(DESTDIR)$(LIBDIR)/libprobity-print.a $(DESTDIR)$(LIBDIR)/libprobity-functions.a

uninstall: ## Remove what install put there
	rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	-rmdir $(DESTDIR)$(CMAKE_DIR) $(DESTDIR)$(HEADER_DIR) 2> /dev/null
